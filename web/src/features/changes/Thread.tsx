import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, MessageSquare, RotateCcw } from "lucide-react";
import { useRef, useState } from "react";
import { type ApiError, api, data, once } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { commentsQuery } from "./data";
import { type Thread as Said, SEVERITY_TONES, SEVERITY_WORDS, wasAt } from "./model";

/** What somebody said about the work, and what was answered. */
export function Thread({
  task,
  said,
  round,
  place = "",
}: {
  task: string;
  said: Said;
  /** The number of the review that it is part of. */
  round?: number;
  /** Where it is about, if it does not stand there. */
  place?: string;
}) {
  const [unfolded, setUnfolded] = useState(false);
  const folded = said.resolved && !unfolded;
  const was = wasAt(said);
  return (
    <article
      aria-label={`Comment by ${clean(said.author)}`}
      className="rounded-lg border bg-sunken text-[13px]"
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1 px-2.5 pt-2 text-xs text-ink-2 last:pb-2">
        <span className="font-medium text-ink">{clean(said.author)}</span>
        <Ago time={said.time} />
        {round !== undefined && <span>review {round}</span>}
        {said.number === null && said.pull !== null && <span>on the forge, #{said.pull}</span>}
        {place && <span className="font-mono wrap-anywhere">{clean(place)}</span>}
        {was && <span className="wrap-anywhere">was {clean(was)}</span>}
        {said.severity && (
          <Chip tone={SEVERITY_TONES[said.severity]}>
            {SEVERITY_WORDS[said.severity] ?? clean(said.severity)}
          </Chip>
        )}
        <State said={said} />
        {said.resolved && (
          <Button
            size="small"
            look="quiet"
            className="ml-auto"
            aria-expanded={!folded}
            onClick={() => setUnfolded(folded)}
          >
            {folded ? "Show" : "Hide"}
          </Button>
        )}
      </header>
      {!folded && (
        <div className="space-y-2 px-2.5 pt-1 pb-2.5">
          {said.outdated && said.quote && (
            <figure className="rounded border-l-2 border-line-strong bg-raised px-2 py-1">
              <figcaption className="text-xs text-ink-3">As it was</figcaption>
              <pre className="overflow-x-auto font-mono text-xs text-ink-2">
                {clean(said.quote)}
              </pre>
            </figure>
          )}
          <Markdown text={said.text} />
          {said.answers.length > 0 && (
            <ul
              aria-label={plural(said.answers.length, "answer")}
              className="space-y-2 border-l pl-3"
            >
              {said.answers.map((answer) => (
                <li key={`${answer.time} ${answer.author}`}>
                  <p className="text-xs text-ink-2">
                    <span className="font-medium text-ink">{clean(answer.author)}</span>{" "}
                    <Ago time={answer.time} />
                  </p>
                  <Markdown text={answer.text} />
                </li>
              ))}
            </ul>
          )}
          {said.number !== null && <Actions task={task} said={said} number={said.number} />}
        </div>
      )}
    </article>
  );
}

function State({ said }: { said: Said }) {
  if (said.state === "resolved") return <Chip tone="good">resolved</Chip>;
  if (said.state === "changed")
    return (
      <Chip tone="warn" title="Nobody has said whether that settled it.">
        lines changed
      </Chip>
    );
  return said.outdated ? (
    <Chip title="What became of its lines is not known.">outdated</Chip>
  ) : null;
}

function Actions({ task, said, number }: { task: string; said: Said; number: number }) {
  const client = useQueryClient();
  const draft = useDraft(`answer:${task}:${number}`, "");
  const [writing, setWriting] = useState(draft.value !== "");
  // One key for one answer: what is tried again after a cut line is not said twice.
  const key = useRef(once()["Idempotency-Key"]);
  const path = { task_id: task, number };
  const onSuccess = () => client.invalidateQueries(commentsQuery(task));
  const answer = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/tasks/{task_id}/comments/{number}/answers", {
          params: { path },
          headers: once(key.current),
          body: { text: draft.value },
        }),
      ),
    onSuccess: () => {
      key.current = once()["Idempotency-Key"];
      draft.forget();
      setWriting(false);
      return onSuccess();
    },
  });
  const resolve = useMutation({
    mutationFn: () =>
      data(
        api.PATCH("/api/v1/tasks/{task_id}/comments/{number}", {
          params: { path },
          headers: once(),
          body: { resolved: !said.resolved },
        }),
      ),
    onSuccess,
  });
  const error = (answer.error ?? resolve.error) as ApiError | null;
  return (
    <div className="space-y-2">
      {writing && (
        <TextArea
          autoFocus
          aria-label={`Answer to ${clean(said.author)}`}
          placeholder="The next run is told."
          value={draft.value}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && draft.value.trim())
              answer.mutate();
          }}
        />
      )}
      {error && (
        <p role="alert" className="text-xs text-bad">
          {[error.message, ...error.details].join(" ")}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {writing ? (
          <>
            <Button
              size="small"
              disabled={!draft.value.trim() || answer.isPending}
              onClick={() => answer.mutate()}
            >
              Send answer
            </Button>
            <Button
              size="small"
              look="quiet"
              onClick={() => {
                draft.forget();
                setWriting(false);
              }}
            >
              Cancel
            </Button>
          </>
        ) : (
          <Button size="small" look="quiet" onClick={() => setWriting(true)}>
            <MessageSquare size={13} /> Answer
          </Button>
        )}
        <Button
          size="small"
          look="quiet"
          disabled={resolve.isPending}
          onClick={() => resolve.mutate()}
        >
          {said.resolved ? <RotateCcw size={13} /> : <Check size={13} />}
          {said.resolved ? "Open again" : "Resolve"}
        </Button>
      </div>
    </div>
  );
}
