import { ArrowRight } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Chip, type Tone } from "@/kit/Chip";
import { Panel } from "@/kit/Page";
import { Ago } from "@/kit/Time";
import { clean, shortened } from "@/kit/text";
import { LOOKS, type StageRun } from "./standing";

type LoopBack = Schemas["LoopBackSeen"];
const PRIORITIES: Record<string, Tone> = { critical: "bad", high: "warn", normal: "neutral" };
const STATES: Record<LoopBack["trigger"]["status"], Tone> = {
  pending: "you",
  dispatched: "accent",
  completed: "good",
};

/** Who had whom run again, why, and what ran for it. */
export function LoopBacks({ items }: { items: LoopBack[] }) {
  return (
    <Panel className="divide-y">
      {items.map((one) => (
        <One key={one.trigger.trigger_id} loop={one} />
      ))}
    </Panel>
  );
}

function One({ loop }: { loop: LoopBack }) {
  const { trigger } = loop;
  const context = shortened(clean(trigger.context ?? ""), 5000);
  return (
    <article aria-label={trigger.trigger_id} className="space-y-1.5 px-3 py-2.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="text-xs text-ink-3 tabular-nums">{trigger.trigger_id}</span>
        <span className="font-medium">{clean(trigger.source_agent)}</span>
        <ArrowRight size={13} aria-label="has run again:" className="text-ink-3" />
        <span className="font-medium">{clean(trigger.target_agent)}</span>
        <Chip tone={PRIORITIES[trigger.priority]}>{trigger.priority}</Chip>
        <Chip tone={STATES[trigger.status]}>{trigger.status}</Chip>
        <span className="ml-auto text-xs text-ink-3">
          <Ago time={loop.at} />
        </span>
      </p>
      <p className="wrap-anywhere">{clean(trigger.reason)}</p>
      {context.text && (
        <p className="text-xs whitespace-pre-wrap text-ink-2 wrap-anywhere">
          {context.text}
          {context.cut > 0 && ` … ${context.cut} more characters`}
        </p>
      )}
      {loop.implied && (
        <p className="text-xs text-ink-3">It did not ask in words; its output says so.</p>
      )}
      {loop.stopped && trigger.status === "pending" ? (
        <p className="text-xs text-you">You decide: {clean(loop.stopped)}</p>
      ) : (
        loop.stopped && (
          <p className="text-xs text-ink-3">A person decided: {clean(loop.stopped)}</p>
        )
      )}
      {loop.ran.length > 0 && <Ran runs={loop.ran} />}
      {loop.note && <p className="text-xs text-ink-3">{clean(loop.note)}</p>}
    </article>
  );
}

function Ran({ runs }: { runs: StageRun[] }) {
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1 text-xs text-ink-2">
      Ran again:
      {runs.map((run, index) => {
        const look = LOOKS[run.ended_at ? (run.delivered ? "done" : "failed") : "live"];
        return (
          <span key={run.id} className="flex items-center gap-1">
            {index > 0 && <ArrowRight size={11} aria-hidden className="text-ink-3" />}
            <look.icon size={12} aria-label={look.word} className={look.ink} />
            {clean(run.agent)}
          </span>
        );
      })}
    </p>
  );
}
