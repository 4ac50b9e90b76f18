import { dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronsLeftRight } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { cx } from "@/kit/cx";
import { BoardCard } from "./BoardCard";
import type { Card, Column } from "./model";

/** What the card in the air may do here. */
export type Landing = { allowed: boolean; reason: string } | null;

const TONE: Record<string, string> = {
  waiting: "bg-you",
  review: "bg-you",
  active: "bg-good",
  final: "bg-line-strong",
};

export const BoardColumn = memo(function BoardColumn({
  column,
  cards,
  projects,
  landing,
  folded,
  onFold,
  onMove,
}: {
  column: Column;
  cards: Card[];
  /** Names to show on cards; null where there is only one project. */
  projects: ReadonlyMap<string, string> | null;
  landing: Landing;
  folded: boolean;
  onFold: (folded: boolean) => void;
  onMove: (card: Card, to: string) => void;
}) {
  const place = useRef<HTMLElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    return dropTargetForElements({
      element,
      getData: () => ({ column: column.id }),
      onDragEnter: () => setOver(true),
      onDragLeave: () => setOver(false),
      onDrop: () => setOver(false),
    });
  }, [column.id]);
  const rows = useVirtualizer({
    count: folded ? 0 : cards.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 84,
    getItemKey: (index) => cards[index]?.id ?? index,
    overscan: 6,
    gap: 8,
  });
  const dot = TONE[column.category] ?? "bg-ink-3";
  const stands =
    (column.category === "waiting" || column.category === "review") && cards.length > 0;
  const look = cx(
    "relative flex shrink-0 snap-center flex-col rounded-xl border border-transparent bg-sunken",
    stands && "bg-you-soft/45",
    landing?.allowed && "border-accent/60 bg-accent-soft/50",
    landing?.allowed && over && "border-accent bg-accent-soft",
    landing && !landing.allowed && "opacity-55",
  );
  if (folded)
    return (
      <section ref={place} aria-label={column.title} className={cx(look, "w-10 max-sm:hidden")}>
        <button
          type="button"
          onClick={() => onFold(false)}
          title={`Show ${column.title}`}
          className="flex h-full w-full flex-col items-center gap-2 py-3 text-xs text-ink-2 hover:text-ink"
        >
          <span className={cx("size-2 rounded-full", dot)} />
          <span className="tabular-nums">{column.count}</span>
          <span className="[writing-mode:vertical-rl]">{column.title}</span>
        </button>
        {landing && !landing.allowed && over && <Refusal reason={landing.reason} />}
      </section>
    );
  return (
    <section
      ref={place}
      aria-label={column.title}
      className={cx(look, "w-72 max-sm:w-[calc(100vw-2.5rem)]")}
    >
      <header className="flex h-10 shrink-0 items-center gap-2 px-3">
        <span className={cx("size-2 rounded-full", dot)} />
        <h2 className="truncate text-[13px] font-semibold">{column.title}</h2>
        <span className="text-xs text-ink-3 tabular-nums">
          {cards.length === column.count ? column.count : `${cards.length} of ${column.count}`}
        </span>
        <button
          type="button"
          aria-label={`Fold ${column.title}`}
          onClick={() => onFold(true)}
          className="ml-auto grid size-6 place-items-center rounded text-ink-3 hover:bg-hover max-sm:hidden"
        >
          <ChevronsLeftRight size={13} />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keys */}
      <div ref={scroll} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
        <ul className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const card = cards[row.index];
            return (
              card && (
                <li
                  key={row.key}
                  data-index={row.index}
                  ref={rows.measureElement}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  <BoardCard
                    card={card}
                    project={projects?.get(card.project_id) ?? null}
                    onMove={onMove}
                  />
                </li>
              )
            );
          })}
        </ul>
      </div>
      {landing && !landing.allowed && over && <Refusal reason={landing.reason} />}
    </section>
  );
});

function Refusal({ reason }: { reason: string }) {
  return (
    <p
      role="status"
      className="absolute top-12 left-1/2 z-10 w-60 -translate-x-1/2 rounded-lg bg-ink p-3 text-xs text-bg shadow-xl"
    >
      {reason}
    </p>
  );
}
