import { Link } from "@tanstack/react-router";
import { AlarmClock, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import {
  GroupedVirtuoso,
  type GroupedVirtuosoHandle,
  Virtuoso,
  type VirtuosoHandle,
} from "react-virtuoso";
import type { InboxItem } from "@/api/client";
import { kindOf } from "@/features/prompts/payloads";
import { cx } from "@/kit/cx";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import type { Group } from "./queue";

type Asleep = { snoozed: InboxItem[]; current: string | undefined };

/** All that waits, in its order; `onEnd` is called where the last of them is seen. */
export function Queue({
  groups,
  snoozed,
  current,
  onEnd,
}: {
  groups: Group[];
  snoozed: InboxItem[];
  current: string | undefined;
  onEnd: () => void;
}) {
  const list = useRef<VirtuosoHandle & GroupedVirtuosoHandle>(null);
  const items = groups.flatMap((group) => group.items);
  const at = items.findIndex((item) => item.prompt.id === current);
  const [first] = useState({ index: Math.max(0, at), align: "center" as const });
  useEffect(() => {
    if (at < 0) return;
    // In the next frame, as the list forgets a wish of the moment in which it is told other things.
    const frame = requestAnimationFrame(() => list.current?.scrollIntoView({ index: at }));
    return () => cancelAnimationFrame(frame);
  }, [at]);
  const shared = {
    ref: list,
    className: "h-full",
    context: { snoozed, current },
    components: { Footer: Snoozed },
    initialTopMostItemIndex: first,
    endReached: onEnd,
  };
  const row = (index: number) => {
    const item = items[index];
    return item && <Row item={item} chosen={index === at} />;
  };
  return (
    <nav aria-label="Questions" className="min-h-0 flex-1">
      {groups[0]?.kind ? (
        <GroupedVirtuoso<unknown, Asleep>
          {...shared}
          groupCounts={groups.map((group) => group.items.length)}
          groupContent={(index) => (
            <h2 className="bg-sunken px-3 py-1.5 text-xs font-semibold text-ink-3">
              {groups[index]?.kind?.many}{" "}
              <span className="font-normal">{groups[index]?.items.length}</span>
            </h2>
          )}
          itemContent={row}
        />
      ) : (
        <Virtuoso<unknown, Asleep>
          {...shared}
          totalCount={items.length}
          computeItemKey={(index) => items[index]?.prompt.id ?? index}
          itemContent={row}
        />
      )}
    </nav>
  );
}

function Snoozed({ context: { snoozed, current } }: { context: Asleep }) {
  if (snoozed.length === 0) return null;
  return (
    <details className="mt-2 border-t" open={snoozed.some((one) => one.prompt.id === current)}>
      <summary className="flex items-center gap-1.5 px-3 py-2 text-xs text-ink-3 hover:text-ink">
        <AlarmClock size={13} /> Snoozed {snoozed.length}
      </summary>
      {snoozed.map((item) => (
        <Row key={item.prompt.id} item={item} chosen={item.prompt.id === current} />
      ))}
    </details>
  );
}

function Row({ item, chosen }: { item: InboxItem; chosen: boolean }) {
  return (
    <Link
      to="/inbox"
      search={(before) => ({ ...before, prompt: item.prompt.id })}
      replace
      aria-current={chosen ? "true" : undefined}
      className={cx(
        "relative block border-b px-3 py-2.5 hover:bg-hover",
        chosen && "bg-accent-soft hover:bg-accent-soft",
      )}
    >
      {chosen && <span className="absolute inset-y-0 left-0 w-0.5 bg-accent" />}
      <span className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">{clean(item.task.title)}</span>
        <span className="shrink-0 text-[11px] text-ink-2">
          <Ago time={item.prompt.created_at} suffix="" />
        </span>
      </span>
      <span className="mt-0.5 line-clamp-2 text-xs text-ink-2 wrap-anywhere">
        {clean(item.summary)}
      </span>
      <span className="mt-1 flex items-center gap-2 text-[11px] text-ink-2">
        {kindOf(item.prompt).label}
        <span aria-hidden>·</span>
        <span className="truncate">{clean(item.project.name)}</span>
        {item.waiting_behind.length > 0 && (
          <span className="ml-auto flex shrink-0 items-center text-you">
            <ChevronRight size={12} /> {plural(item.waiting_behind.length, "task")} behind
          </span>
        )}
      </span>
    </Link>
  );
}
