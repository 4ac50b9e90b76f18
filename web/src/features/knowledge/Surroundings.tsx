import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { clean } from "@/kit/text";
import { BOX, type Box, type Drawing, type Drawn, surroundings } from "./graphModel";
import { KINDS, StateChip } from "./look";
import type { EdgeKind } from "./relations";

const LINES: Record<EdgeKind, { stroke: string; dash?: string }> = {
  found_by: { stroke: "var(--line-strong)" },
  contradicts: { stroke: "var(--bad)" },
  answers: { stroke: "var(--good)", dash: "2 4" },
  follows: { stroke: "var(--ink-3)", dash: "6 4" },
};

/** One finding and what hangs together with it, a column for each step away from it. */
export function Surroundings({
  drawing,
  chosen,
  hops,
}: {
  drawing: Drawing;
  chosen: Drawn;
  hops: number;
}) {
  const drawn = useMemo(() => surroundings(drawing, chosen.id, hops), [drawing, chosen.id, hops]);
  const pane = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one begins at its own place
  useEffect(() => {
    // Not returned: a scroll may be a promise, and React takes what is returned for a clean-up.
    pane.current?.scrollTo(0, 0);
  }, [chosen.id]);
  return (
    <section
      ref={pane}
      aria-label={`What hangs together with: ${clean(chosen.text)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto p-4 sm:p-6"
    >
      <div className="relative" style={{ width: drawn.width, height: drawn.height + 48 }}>
        <svg aria-hidden width={drawn.width} height={drawn.height} className="absolute inset-0">
          {drawn.lines.map(({ key, kind, path }) => (
            <path
              key={key}
              d={path}
              fill="none"
              strokeWidth={1.5}
              stroke={LINES[kind].stroke}
              strokeDasharray={LINES[kind].dash}
            />
          ))}
        </svg>
        <ul>
          {drawn.boxes.map((box) => (
            <Place key={box.node.id} box={box} chosen={box.node.id === chosen.id} />
          ))}
          {drawn.more.map(({ count, x, y }) => (
            <li
              key={x}
              data-text
              className="absolute text-xs text-ink-3"
              style={{ left: x, top: y, width: BOX.width }}
            >
              and {count} more
            </li>
          ))}
          {drawn.boxes.length === 1 && (
            <li
              data-text
              className="absolute text-xs text-ink-3"
              style={{ left: 0, top: BOX.height + 44, width: BOX.width }}
            >
              Nothing else hangs together with it.
            </li>
          )}
        </ul>
      </div>
    </section>
  );
}

function Place({ box: { node, relation, x, y }, chosen }: { box: Box; chosen: boolean }) {
  const place = { left: x, top: y, width: BOX.width, height: BOX.height };
  const words = (
    <>
      <span data-text className="flex h-5 items-center gap-1.5 truncate text-[11px] text-ink-3">
        {relation && `${relation} · `}
        {KINDS[node.kind].toLowerCase()}
        {node.state !== "active" && <StateChip state={node.state} />}
      </span>
      <span data-text className="line-clamp-2 text-xs leading-4.5 wrap-anywhere">
        {clean(node.text)}
      </span>
    </>
  );
  const look = "absolute block overflow-hidden rounded-lg border bg-raised px-2.5 py-2 text-left";
  if (chosen)
    return (
      <li>
        <div aria-current className={cx(look, "border-2 border-accent")} style={place}>
          {words}
        </div>
        {/* Below its box, where the column has nothing else. */}
        <Button asChild size="small" className="absolute">
          <Link
            to="/knowledge/nodes/$nodeId"
            params={{ nodeId: node.id }}
            style={{ left: x, top: y + BOX.height + 8 }}
          >
            Open it
          </Link>
        </Button>
      </li>
    );
  return (
    <li>
      <Link
        to="."
        search={(before) => ({ ...before, node: node.id })}
        className={cx(look, "hover:border-line-strong hover:bg-hover")}
        style={place}
      >
        {words}
      </Link>
    </li>
  );
}
