import { MessageSquarePlus, Trash2 } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Field, TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { plural } from "@/kit/text";
import {
  type Decision,
  type DocumentDraft,
  documentAnswer,
  type Paragraph,
  paragraphsOf,
} from "./answers";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import { draftKey } from "./useSender";

const BLANK: DocumentDraft = { summary: "", comments: {} };

/** A plan or design, with remarks at its paragraphs that are sent together. */
export function DocumentForm({ item, asked, sender, keys }: FormProps<"document">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const words = useRef<HTMLTextAreaElement>(null);
  const paragraphs = useMemo(() => paragraphsOf(asked.document), [asked.document]);
  const comments = Object.values(draft.value.comments).filter((one) => one.trim()).length;
  const sendsBack = comments > 0 || !!draft.value.summary.trim();
  const decide = (decision: Decision) => {
    const answer = documentAnswer(decision, draft.value, paragraphs, asked.artifact_id);
    if (answer) sender.send(answer);
    else words.current?.focus();
  };
  const send = () => decide(sendsBack ? "changes_requested" : "approved");
  const comment = (line: number, text: string | undefined) =>
    draft.set((before) => {
      const { [line]: _, ...others } = before.comments;
      return { ...before, comments: text === undefined ? others : { ...others, [line]: text } };
    });
  useFormKeys(keys, { custom: () => words.current?.focus(), send });
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      foot={
        <>
          <Button
            look={sendsBack ? "primary" : "plain"}
            hint={sendsBack ? "Ctrl+Enter" : undefined}
            disabled={sender.busy}
            onClick={() => decide("changes_requested")}
          >
            Request changes{comments > 0 && ` (${plural(comments, "comment")})`}
          </Button>
          <Button
            look={sendsBack ? "plain" : "primary"}
            hint={sendsBack ? undefined : "Ctrl+Enter"}
            disabled={sender.busy}
            onClick={() => decide("approved")}
          >
            Approve
          </Button>
        </>
      }
    >
      <section aria-label={asked.title}>
        {paragraphs.map((paragraph) => (
          <Block
            key={paragraph.line}
            paragraph={paragraph}
            comment={draft.value.comments[paragraph.line]}
            onComment={(text) => comment(paragraph.line, text)}
          />
        ))}
      </section>
      <Field label="On the whole" note="Needed only to request changes without a comment above.">
        {(id) => (
          <TextArea
            id={id}
            ref={words}
            value={draft.value.summary}
            onChange={(event) =>
              draft.set((before) => ({ ...before, summary: event.target.value }))
            }
          />
        )}
      </Field>
    </FormFrame>
  );
}

function Block({
  paragraph,
  comment,
  onComment,
}: {
  paragraph: Paragraph;
  comment: string | undefined;
  onComment: (text: string | undefined) => void;
}) {
  const [begun, setBegun] = useState(false);
  const written = comment !== undefined;
  return (
    <div
      className={cx(
        "group relative -mx-2 rounded-md py-1 pr-10 pl-2 hover:bg-sunken",
        written && "bg-sunken",
      )}
    >
      <Markdown text={paragraph.text} />
      {written ? (
        <div className="mt-2 mb-1 flex gap-2">
          <TextArea
            aria-label={`Comment on line ${paragraph.line}`}
            autoFocus={begun}
            placeholder="What should change here?"
            value={comment}
            onChange={(event) => onComment(event.target.value)}
          />
          <Button
            size="icon"
            look="quiet"
            aria-label="Remove the comment"
            onClick={() => onComment(undefined)}
          >
            <Trash2 size={15} />
          </Button>
        </div>
      ) : (
        <Button
          size="icon"
          look="quiet"
          aria-label={`Comment on line ${paragraph.line}`}
          className="absolute top-0 right-0 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 max-sm:opacity-60"
          onClick={() => {
            setBegun(true);
            onComment("");
          }}
        >
          <MessageSquarePlus size={15} />
        </Button>
      )}
    </div>
  );
}
