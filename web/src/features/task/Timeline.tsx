import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Virtuoso, type VirtuosoHandle } from "react-virtuoso";
import type { TaskView } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { useHash } from "@/features/transcript/useHash";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Await, Empty } from "@/kit/State";
import { useAge } from "@/kit/Time";
import { type EventLog, taskQueries } from "./queries";
import { EventRow, GapRow, ToolsRow } from "./TimelineRow";
import { categoriesOf, type Look, rowsOf } from "./timeline";

const LOOKS: Look[] = ["compact", "full", "raw"];

/** Everything that happened to a task, in the order in which it did. */
export function Timeline({ view }: { view: TaskView }) {
  const client = useQueryClient();
  const log = useQuery(taskQueries.log(client, view.task.id));
  return (
    <Await query={log}>{(found) => <Shown view={view} log={found} more={log.refetch} />}</Await>
  );
}

function Shown({ view, log, more }: { view: TaskView; log: EventLog; more: () => unknown }) {
  const history = useQuery(taskQueries.history(view.task.id)).data?.items;
  const [look, setLook] = useState<Look>("compact");
  const [categories, setCategories] = useState(() => new Set<string>());
  const [failures, setFailures] = useState(false);
  const list = useRef<VirtuosoHandle>(null);
  const hash = useHash().slice(1);
  const finished = view.status.category === "final";
  // The open gap is told in minutes, so that it need not be counted more often.
  const age = useAge(log.items.at(-1)?.time ?? null) ?? 0;
  const minute = Math.floor(age / 60);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the minute says that now is another
  const rows = useMemo(
    () =>
      rowsOf(
        log.items,
        history ?? [],
        { look, categories, failures },
        finished ? null : Date.now(),
      ),
    [log.items, history, look, categories, failures, finished, minute],
  );
  const linked = rows.findIndex((row) => row.key === hash);
  useEffect(() => {
    if (linked >= 0) list.current?.scrollToIndex({ index: linked, align: "center" });
  }, [linked]);
  const turnLook = () => setLook(LOOKS[(LOOKS.indexOf(look) + 1) % LOOKS.length] as Look);
  useShortcuts("Timeline", [
    { keys: "x", label: "Compact, full, raw", run: turnLook },
    { keys: "f", label: "Only failures", run: () => setFailures(!failures) },
  ]);
  const toggle = (category: string) =>
    setCategories((before) => {
      const after = new Set(before);
      if (!after.delete(category)) after.add(category);
      return after;
    });
  return (
    <section aria-label="Timeline" className="pb-10">
      <div className="flex flex-wrap items-center gap-2 px-4 py-3 sm:px-6">
        <fieldset className="flex rounded-md border border-line-strong p-px">
          <legend className="sr-only">How much to show</legend>
          {LOOKS.map((one) => (
            <Toggle key={one} on={look === one} onClick={() => setLook(one)}>
              {one === "raw" ? "Raw JSON" : one === "full" ? "Full" : "Compact"}
            </Toggle>
          ))}
        </fieldset>
        <fieldset className="flex flex-wrap gap-1">
          <legend className="sr-only">What to show</legend>
          <Toggle round on={failures} onClick={() => setFailures(!failures)}>
            failures
          </Toggle>
          {categoriesOf(log.items).map(([category, count]) => (
            <Toggle
              key={category}
              round
              on={categories.has(category)}
              onClick={() => toggle(category)}
            >
              {category} <span className="text-ink-3 tabular-nums">{count}</span>
            </Toggle>
          ))}
        </fieldset>
        <Button
          size="small"
          look="quiet"
          className="ml-auto"
          onClick={() => list.current?.scrollToIndex({ index: "LAST", align: "end" })}
        >
          Newest <ArrowDown size={13} />
        </Button>
      </div>
      {rows.length === 0 ? (
        <Empty title="Nothing of that kind has happened" />
      ) : (
        <Virtuoso
          ref={list}
          customScrollParent={document.getElementById("main") ?? undefined}
          data={rows}
          defaultItemHeight={34}
          increaseViewportBy={400}
          initialTopMostItemIndex={Math.max(0, linked)}
          computeItemKey={(_, row) => row.key}
          itemContent={(_, row) =>
            row.kind === "gap" ? (
              <GapRow row={row} />
            ) : row.kind === "tools" ? (
              <ToolsRow row={row} current={row.key === hash} />
            ) : (
              <EventRow row={row} look={look} current={row.key === hash} />
            )
          }
        />
      )}
      {log.more && (
        <div className="p-4 text-center">
          <Button onClick={more}>Read more of the log</Button>
        </div>
      )}
    </section>
  );
}

function Toggle({
  on,
  round,
  onClick,
  children,
}: {
  on: boolean;
  round?: boolean;
  onClick: () => void;
  children: React.ReactNode;
}) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onClick}
      className={cx(
        "h-7 px-2.5 text-xs text-ink-2 hover:bg-hover max-sm:h-9",
        round ? "rounded-full border" : "rounded-[5px]",
        on && "bg-accent-soft font-medium text-accent-text hover:bg-accent-soft",
      )}
    >
      {children}
    </button>
  );
}
