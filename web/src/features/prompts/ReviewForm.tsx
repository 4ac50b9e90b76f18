import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleX, FileDiff, TriangleAlert } from "lucide-react";
import { useRef } from "react";
import type { InboxItem } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Field, TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { clean, plural } from "@/kit/text";
import { type Decision, reviewAnswer } from "./answers";
import { Findings } from "./Findings";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import { objects, type Work } from "./payloads";
import { draftKey } from "./useSender";

const BLANK = { summary: "" };

/** The work of an agent; where an agent reviewed it and objects, its remarks first. */
export function ReviewForm({ item, asked, sender, keys }: FormProps<"review">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const words = useRef<HTMLTextAreaElement>(null);
  const agentObjects = objects(asked.review);
  const decide = (decision: Decision) => {
    const answer = reviewAnswer(decision, draft.value.summary, agentObjects);
    if (answer) sender.send(answer);
    else words.current?.focus();
  };
  const written = !!draft.value.summary.trim();
  const sendsBack = agentObjects || written;
  const send = () => decide(sendsBack ? "changes_requested" : "approved");
  useFormKeys(keys, { custom: () => words.current?.focus(), send });
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      keeper={written ? sender : undefined}
      foot={
        <>
          <Button
            look={sendsBack ? "primary" : "plain"}
            hint={sendsBack ? "Ctrl+Enter" : undefined}
            disabled={sender.busy}
            onClick={() => decide("changes_requested")}
          >
            {agentObjects ? "Send back for rework" : "Request changes"}
          </Button>
          <Button
            look={sendsBack ? "plain" : "primary"}
            hint={sendsBack ? undefined : "Ctrl+Enter"}
            disabled={sender.busy}
            onClick={() => decide("approved")}
          >
            {agentObjects ? "Approve anyway" : "Approve"}
          </Button>
        </>
      }
    >
      <Stat item={item} work={asked.work} />
      {asked.review && (
        <section className="space-y-4">
          <h3 className="font-semibold">
            {agentObjects
              ? "An agent reviewed it and wants changes"
              : "An agent reviewed it: approved"}
          </h3>
          {asked.review.summary && <Markdown text={asked.review.summary} />}
          <Findings taskId={item.task.id} comments={asked.review.comments ?? []} />
        </section>
      )}
      <Field
        label={agentObjects ? "Your own remarks" : "What must change"}
        note={
          agentObjects
            ? "May be left out: the remarks above go back with the work."
            : "Needed only to request changes. Remarks on single lines are made in the changes."
        }
      >
        {(id) => (
          <TextArea
            id={id}
            ref={words}
            value={draft.value.summary}
            onChange={(event) => {
              draft.set({ summary: event.target.value });
              // Without words there is nothing to keep.
              if (!event.target.value.trim()) sender.setKeep(false);
            }}
          />
        )}
      </Field>
    </FormFrame>
  );
}

function Stat({ item, work }: { item: InboxItem; work: Work }) {
  return (
    <div className="space-y-2">
      <Link
        to="/tasks/$taskId"
        params={{ taskId: item.task.id }}
        search={{ tab: "changes" }}
        className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border bg-sunken px-3 py-2 hover:bg-hover"
      >
        <FileDiff size={16} className="text-ink-3" />
        <span className="font-medium">Look at the changes</span>
        <span className="tabular-nums text-ink-2">
          {work.files !== undefined && plural(work.files, "file")}{" "}
          {work.additions !== undefined && <span className="text-good">+{work.additions}</span>}{" "}
          {work.deletions !== undefined && <span className="text-bad">−{work.deletions}</span>}
        </span>
        {work.branch && (
          <span className="min-w-0 truncate font-mono text-xs text-ink-3">
            {clean(work.branch)}
          </span>
        )}
      </Link>
      {work.checks_passed !== undefined && work.checks_passed !== null && (
        <p className="flex items-center gap-1.5">
          {work.checks_passed ? (
            <CircleCheck size={15} className="text-good" />
          ) : (
            <CircleX size={15} className="text-bad" />
          )}
          {work.checks_passed ? "The project's checks passed." : "The project's checks failed."}
        </p>
      )}
      {!!work.policy?.length && (
        <p className="flex gap-1.5 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <TriangleAlert size={15} className="mt-0.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">
            Among them are files by which agents and checks are told what to do:{" "}
            {work.policy.map(clean).join(", ")}
          </span>
        </p>
      )}
      {work.warnings?.map((warning) => (
        <p key={warning} className="flex gap-1.5 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <TriangleAlert size={15} className="mt-0.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">{clean(warning)}</span>
        </p>
      ))}
    </div>
  );
}
