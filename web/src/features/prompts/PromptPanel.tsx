import { useMemo } from "react";
import type { InboxItem } from "@/api/client";
import { cx } from "@/kit/cx";
import { clean } from "@/kit/text";
import { BudgetForm } from "./BudgetForm";
import { ChoiceForm } from "./ChoiceForm";
import { DocumentForm } from "./DocumentForm";
import { Given } from "./Given";
import { OptionsForm } from "./OptionsForm";
import { PermissionForm } from "./PermissionForm";
import { PromptHead } from "./PromptHead";
import { asked } from "./payloads";
import { QuestionsForm } from "./QuestionsForm";
import { ReviewForm } from "./ReviewForm";
import { SchemaForm } from "./SchemaForm";
import { SplitForm } from "./SplitForm";
import { type Sender, useSender } from "./useSender";

interface Props {
  item: InboxItem;
  onAnswered?: () => void;
  /** Called with the question that is open again when the answer was taken back. */
  onUndone?: (promptId: string) => void;
  /** In the inbox: the task is named, and the keys of the form work from everywhere. */
  alone?: boolean;
  className?: string;
}

/** A question with the form that answers it; a closed one with what was answered. */
export function PromptPanel({ item, onAnswered, onUndone, alone = false, className }: Props) {
  const sender = useSender(item, onAnswered, onUndone);
  return (
    <section
      aria-label={`Question: ${clean(item.summary)}`}
      className={cx("rounded-xl border bg-raised", className)}
    >
      <PromptHead item={item} withTask={alone} />
      {item.prompt.status === "pending" ? (
        <Form key={item.prompt.id} item={item} sender={sender} keys={alone} />
      ) : (
        <Given key={item.prompt.id} item={item} />
      )}
    </section>
  );
}

function Form({ item, sender, keys }: { item: InboxItem; sender: Sender; keys: boolean }) {
  const found = useMemo(() => asked(item.prompt), [item.prompt]);
  const same = { item, sender, keys };
  switch (found.kind) {
    case "questions":
      return <QuestionsForm {...same} asked={found} />;
    case "options":
      return <OptionsForm {...same} asked={found} />;
    case "review":
      return <ReviewForm {...same} asked={found} />;
    case "document":
      return <DocumentForm {...same} asked={found} />;
    case "split":
      return <SplitForm {...same} asked={found} />;
    case "choice":
      return <ChoiceForm {...same} asked={found} />;
    case "permission":
      return <PermissionForm {...same} asked={found} />;
    case "budget":
      return <BudgetForm {...same} asked={found} />;
    case "form":
      return <SchemaForm {...same} asked={found} />;
    default:
      return (
        <div className="space-y-3 px-4 py-4 sm:px-5">
          <p className="text-[15px] wrap-anywhere">{clean(item.summary)}</p>
          <p className="text-ink-2">
            This page does not know such questions yet. Reload it, or answer with{" "}
            <code className="font-mono">am prompt answer {item.prompt.id}</code>.
          </p>
        </div>
      );
  }
}
