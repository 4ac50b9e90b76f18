import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, Clock, Copy } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import type { InboxItem, Prompt } from "@/api/client";
import { queries } from "@/api/queries";
import { forgetDraft, readDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { Lines } from "./Lines";
import { asked } from "./payloads";
import { said, unsent } from "./said";
import { draftKey } from "./useSender";

const CLOSED: Record<string, string> = {
  expired: "This question expired before anybody answered.",
  cancelled: "This question needs no answer any more: the task went on another way.",
  superseded: "A newer question took the place of this one.",
};

/** A question that is closed: who answered what, by which door, and what was typed here meanwhile. */
export function Given({ item }: { item: InboxItem }) {
  const { prompt } = item;
  const open = useQuery(queries.task(item.task.id)).data?.prompts;
  const next = open?.find((other) => other.id !== prompt.id)?.id;
  const newer = useQuery({ ...queries.prompt(next ?? ""), enabled: next !== undefined }).data;
  return (
    <div className="space-y-5 px-4 py-4 sm:px-5">
      <p className="text-[15px] text-ink-2 wrap-anywhere">{clean(item.summary)}</p>
      <section className="space-y-3 rounded-lg border bg-sunken p-4">
        <p className="flex items-center gap-2 font-medium">
          {prompt.status === "responded" ? (
            <>
              <CircleCheck size={17} className="shrink-0 text-good" />
              <Who prompt={prompt} />
            </>
          ) : (
            <>
              <Clock size={17} className="shrink-0 text-ink-3" />
              {CLOSED[prompt.status] ?? "This question is closed."}
            </>
          )}
        </p>
        {prompt.response && <Lines lines={said(asked(prompt), prompt.response)} />}
      </section>
      {newer && (
        <Link
          to="/inbox"
          search={{ prompt: newer.prompt.id }}
          className="block text-accent-text hover:underline"
        >
          The task asks something else now: {clean(newer.summary)}
        </Link>
      )}
      <Unsent item={item} />
    </div>
  );
}

function Who({ prompt }: { prompt: Prompt }) {
  const taken = prompt.responded_via === "default";
  return (
    <span className="min-w-0 wrap-anywhere">
      {taken
        ? "The recommended answer was taken, as the agent allowed,"
        : `${clean(prompt.responded_by ?? "Somebody")} answered via ${clean(prompt.responded_via ?? "an unknown door")}`}{" "}
      {prompt.responded_at && <Ago time={prompt.responded_at} />}
    </span>
  );
}

function Unsent({ item }: { item: InboxItem }) {
  const client = useQueryClient();
  const key = draftKey(item.prompt.id);
  const [draft, setDraft] = useState(() => readDraft<Record<string, unknown>>(key));
  const lines = draft ? unsent(asked(item.prompt), draft) : [];
  if (lines.length === 0) return null;
  const text = lines
    .map((one) => (one.label ? `${one.label}\n${one.text}` : one.text))
    .join("\n\n");
  return (
    <section
      aria-label="Your unsent answer"
      className="space-y-3 rounded-lg border border-warn/40 p-4"
    >
      <h3 className="font-medium text-warn">What you wrote was not sent. It is kept here.</h3>
      <Lines lines={lines} />
      <div className="flex gap-2">
        {navigator.clipboard && (
          <Button
            onClick={() => {
              void navigator.clipboard.writeText(text);
              toast.success("Copied");
            }}
          >
            <Copy size={14} /> Copy
          </Button>
        )}
        <Button
          look="quiet"
          onClick={() => {
            forgetDraft(key);
            setDraft(undefined);
            void client.invalidateQueries({ queryKey: ["prompt", item.prompt.id] });
          }}
        >
          Throw it away
        </Button>
      </div>
    </section>
  );
}
