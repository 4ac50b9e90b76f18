import { cx } from "@/kit/cx";
import { useAge } from "@/kit/Time";
import { clean, duration } from "@/kit/text";
import { doing, type Entry } from "./messages";
import type { Connection } from "./store";

/** After this long without a word, silence is worth a look. */
export const QUIET_S = 300;

/** What the agent is at, and since when nothing was heard of it. */
export function NowLine({
  entries,
  heardAt,
  connection,
}: {
  entries: Entry[];
  heardAt: string | null;
  connection: Connection;
}) {
  const tool = doing(entries);
  const running = useAge(tool?.at ? new Date(tool.at).toISOString() : null);
  const silent = useAge(heardAt);
  const quiet = silent !== null && silent > QUIET_S;
  return (
    <div
      className={cx(
        "flex h-8 shrink-0 items-center gap-2 border-t px-6 text-xs text-ink-2 max-sm:px-4",
        quiet && "bg-warn-soft text-warn",
      )}
    >
      <span
        className={cx(
          "size-2 shrink-0 rounded-full",
          connection === "lost" ? "bg-bad" : quiet ? "bg-warn" : "pulse-dot bg-good",
        )}
      />
      <span className="min-w-0 flex-1 truncate">
        {tool ? (
          <>
            now: running <b className="font-medium">{tool.name}</b>{" "}
            <span className="font-mono">{clean(tool.brief)}</span>
            {running !== null && <span className="ml-1.5 tabular-nums">{duration(running)}</span>}
          </>
        ) : (
          "now: the agent is at work"
        )}
      </span>
      <span className="shrink-0 tabular-nums">
        {connection === "lost"
          ? "The server does not answer"
          : silent === null
            ? "last sign of life unknown"
            : `${quiet ? "quiet" : "last sign of life"} ${duration(silent)}${quiet ? "" : " ago"}`}
      </span>
    </div>
  );
}
