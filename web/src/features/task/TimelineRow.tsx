import { ChevronRight, CircleCheck, CircleX, Hourglass } from "lucide-react";
import { memo, useState } from "react";
import { cx } from "@/kit/cx";
import { Pre } from "@/kit/Pre";
import { clean, duration, shortened } from "@/kit/text";
import { callsIn, isFailure, type Look, type TimelineRow } from "./timeline";

type Of<K extends TimelineRow["kind"]> = Extract<TimelineRow, { kind: K }>;

const DOTS = { error: "bg-bad", warning: "bg-warn", info: "bg-line-strong", debug: "bg-line" };

export function GapRow({ row }: { row: Of<"gap"> }) {
  return (
    <p
      className={cx(
        "flex items-center gap-2 px-4 py-1.5 text-xs text-ink-3 sm:px-6 sm:pl-[9.25rem]",
        row.who === "waiting for you" && "text-you",
      )}
    >
      <Hourglass size={12} className="shrink-0" />
      {duration(row.seconds)} {row.who}
      {row.open && ", until now"}
    </p>
  );
}

/** What the agent did in between, folded: its calls are shown one by one when asked for. */
export function ToolsRow({ row, current }: { row: Of<"tools">; current: boolean }) {
  const [open, setOpen] = useState(false);
  const first = row.events[0];
  if (!first) return null;
  return (
    <div className={cx("px-4 py-1 sm:px-6", current && "bg-accent-soft")} data-seq={first.seq}>
      <div className="flex items-baseline gap-3">
        <a
          href={`#${first.seq}`}
          title={`${new Date(first.time).toLocaleString()}. Link to this event.`}
          className="w-28 shrink-0 text-xs whitespace-nowrap text-ink-3 tabular-nums hover:underline max-sm:w-14"
        >
          <span className="max-sm:hidden">{day(first.time)} </span>
          {clock(first.time)}
        </a>
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 items-baseline gap-1 text-left text-[13px] break-words text-ink-2 hover:underline"
        >
          <ChevronRight
            size={12}
            className={cx("shrink-0 translate-y-px transition-transform", open && "rotate-90")}
          />
          {clean(callsIn(row.events))}
        </button>
      </div>
      {open && (
        <ul className="mt-0.5 mb-1.5 space-y-0.5 text-xs text-ink-2 sm:ml-[8.5rem]">
          {row.events.map((event) => (
            <li
              key={event.seq}
              className={cx("break-words", event.data.ok === false && "text-bad")}
            >
              <span className="text-ink-3 tabular-nums">{clock(event.time)}</span>{" "}
              {clean(event.summary)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export const EventRow = memo(function EventRow({
  row: { event, history },
  look,
  current,
}: {
  row: Of<"event">;
  look: Look;
  current: boolean;
}) {
  const who = event.actor.name || event.actor.type;
  return (
    <div className={cx("px-4 py-1 sm:px-6", current && "bg-accent-soft")} data-seq={event.seq}>
      <div className="flex items-baseline gap-3">
        <a
          href={`#${event.seq}`}
          title={`${new Date(event.time).toLocaleString()}. Link to this event.`}
          className="w-28 shrink-0 text-xs whitespace-nowrap text-ink-3 tabular-nums hover:underline max-sm:w-14"
        >
          <span className="max-sm:hidden">{day(event.time)} </span>
          {clock(event.time)}
        </a>
        <span
          className={cx("size-2 shrink-0 translate-y-px rounded-full", DOTS[event.level])}
          title={event.level}
        />
        <p
          className={cx(
            "min-w-0 flex-1 text-[13px] break-words",
            isFailure(event) && "font-semibold text-bad",
            event.level === "warning" && "text-warn",
          )}
        >
          {clean(event.summary)}
        </p>
        {look !== "compact" && (
          <span className="shrink-0 text-xs text-ink-3 max-sm:hidden">
            {clean(who)}
            {event.actor.via && ` via ${clean(event.actor.via)}`}
          </span>
        )}
      </div>
      {look === "full" && <Details row={{ kind: "event", key: "", event, history }} />}
      {look === "raw" && (
        <Pre className="mt-1 mb-2 max-h-96 sm:ml-[8.5rem]">
          {shortened(clean(JSON.stringify(history ? { event, history } : event, null, 2))).text}
        </Pre>
      )}
    </div>
  );
});

function Details({ row: { event, history } }: { row: Of<"event"> }) {
  const fields = Object.entries(event.data).filter(
    ([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
  return (
    <div className="mb-1.5 space-y-1.5 text-xs text-ink-2 sm:ml-[8.5rem]">
      <p className="flex flex-wrap gap-x-3 gap-y-0.5">
        <span className="text-ink-3">{event.type}</span>
        {fields.map(([name, value]) => (
          <span key={name} className="min-w-0 break-words">
            <span className="text-ink-3">{name}</span> {worded(value)}
          </span>
        ))}
      </p>
      {history && (history.guards.length > 0 || history.hooks.length > 0) && (
        <ul className="space-y-0.5">
          {history.guards.map((guard) => (
            <li key={guard.name} className="flex items-start gap-1.5">
              {guard.passed ? (
                <CircleCheck size={12} className="mt-0.5 shrink-0 text-good" aria-label="passed" />
              ) : (
                <CircleX size={12} className="mt-0.5 shrink-0 text-bad" aria-label="refused" />
              )}
              <span className="min-w-0 break-words">
                {clean(guard.name)}: {clean(guard.reason)}
              </span>
            </li>
          ))}
          {history.hooks.map((hook) => (
            <li key={hook.effect ?? hook.name} className="pl-[18px]">
              then {clean(hook.name)} <span className="text-ink-3">({hook.policy})</span>
            </li>
          ))}
        </ul>
      )}
      {history?.reason && <p>Reason: {clean(history.reason)}</p>}
    </div>
  );
}

function worded(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return shortened(clean(text), 300).text;
}

const day = (time: string) =>
  new Date(time).toLocaleDateString(undefined, { month: "short", day: "numeric" });
const clock = (time: string) =>
  new Date(time).toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
