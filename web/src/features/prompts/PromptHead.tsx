import { Link } from "@tanstack/react-router";
import { Bot, Clock, Hourglass, Users } from "lucide-react";
import type { ReactNode } from "react";
import type { InboxItem } from "@/api/client";
import { Chip } from "@/kit/Chip";
import { Markdown } from "@/kit/Markdown";
import { Ago, useAge } from "@/kit/Time";
import { clean, duration, plural } from "@/kit/text";
import { kindOf } from "./payloads";

/** Who asks, for which task, since when, and what waits for the answer. */
export function PromptHead({ item, withTask }: { item: InboxItem; withTask: boolean }) {
  const { prompt, task } = item;
  const open = prompt.status === "pending";
  return (
    <header className="space-y-2 border-b px-4 py-3 sm:px-5">
      {withTask && (
        <h2 className="text-base font-semibold wrap-anywhere">
          <Link to="/tasks/$taskId" params={{ taskId: task.id }} className="hover:underline">
            {clean(task.title)}
          </Link>
        </h2>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-xs text-ink-2">
        <Chip tone={open ? "you" : "neutral"}>{kindOf(prompt).label}</Chip>
        {withTask && <span>{clean(item.project.name)}</span>}
        <Fact icon={<Bot size={13} />}>
          {prompt.resume.agent ? (
            <>
              asked by {clean(prompt.resume.agent)}
              {prompt.resume.mode && ` (${clean(prompt.resume.mode)})`}
            </>
          ) : (
            "asked by the pipeline"
          )}
          {prompt.run_id && (
            <Link
              to="/tasks/$taskId"
              params={{ taskId: task.id }}
              search={{ tab: "transcript", run: prompt.run_id }}
              className="ml-1.5 text-accent-text underline underline-offset-2"
            >
              what it did
            </Link>
          )}
        </Fact>
        <Fact icon={<Clock size={13} />}>
          <Ago time={prompt.created_at} />
        </Fact>
        {open && prompt.midway && (
          <Fact icon={<Hourglass size={13} />}>its run goes on with your answer</Fact>
        )}
        {open && prompt.expires_at && (
          <Until from={prompt.created_at} to={prompt.expires_at} soon="expires in" past="expired" />
        )}
        {open && prompt.default_at && (
          <Until
            from={prompt.created_at}
            to={prompt.default_at}
            soon="takes the recommended answer in"
            past="takes the recommended answer now"
          />
        )}
        {prompt.roles.length > 0 && (
          <Fact icon={<Users size={13} />}>
            for {[...new Set(["admin", ...prompt.roles])].map(clean).join(", ")}
          </Fact>
        )}
        {prompt.reminders > 0 && <span>reminded {plural(prompt.reminders, "time")}</span>}
      </div>
      {item.waiting_behind.length > 0 && open && (
        <p className="text-xs text-you wrap-anywhere">
          {plural(item.waiting_behind.length, "task")}{" "}
          {item.waiting_behind.length === 1 ? "waits" : "wait"} behind it:{" "}
          {item.waiting_behind.map(clean).join(", ")}
        </p>
      )}
      {prompt.note && (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          <Markdown text={`Asked again: ${prompt.note}`} />
        </div>
      )}
      {prompt.revision > 1 && !prompt.note && (
        <p className="text-xs text-ink-3">Asked again (for the {prompt.revision}. time).</p>
      )}
      {withTask && <About item={item} />}
    </header>
  );
}

function About({ item }: { item: InboxItem }) {
  const { description, plan } = item.task;
  if (!description && !plan) return null;
  return (
    <details className="text-ink-2">
      <summary className="w-fit text-xs hover:text-ink max-sm:py-2">About the task</summary>
      <div className="mt-2 max-h-96 space-y-4 overflow-y-auto border-l-2 pl-3">
        {description && <Markdown text={description} />}
        {plan && item.prompt.type !== "document_review" && (
          <section>
            <h3 className="mb-1 text-xs font-semibold text-ink-3">Plan</h3>
            <Markdown text={plan} />
          </section>
        )}
      </div>
    </details>
  );
}

function Fact({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <span className="flex items-center gap-1">
      <span className="text-ink-3">{icon}</span>
      <span>{children}</span>
    </span>
  );
}

const SOON_S = 3600;

function Until({ from, to, soon, past }: { from: string; to: string; soon: string; past: string }) {
  const age = useAge(from) ?? 0;
  const left = (Date.parse(to) - Date.parse(from)) / 1000 - age;
  return (
    <span
      title={new Date(to).toLocaleString()}
      className={`flex items-center gap-1 ${left < SOON_S ? "text-warn" : ""}`}
    >
      <Hourglass size={13} />
      {left > 0 ? `${soon} ${duration(left)}` : past}
    </span>
  );
}
