import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { memo } from "react";
import { Virtuoso } from "react-virtuoso";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { clean, plural } from "@/kit/text";
import { type Drawn, heap, type Island, NONE, REST } from "./graphModel";
import { KINDS, KindChip, StateChip } from "./look";
import type { Kind } from "./queries";

const COLORS: Record<Kind | "doubt", string> = {
  pattern: "var(--accent)",
  gotcha: "var(--warn)",
  decision: "var(--good)",
  question: "var(--ink-3)",
  task: "var(--ink)",
  doubt: "var(--bad)",
};
const DOT = 1.9;

/** Each dot is a finding; those that belong together lie in a heap with its name below. */
export const Islands = memo(function Islands({
  islands,
  chosen,
  onChoose,
}: {
  islands: Island[];
  chosen?: string;
  onChoose: (id: string) => void;
}) {
  return (
    <section
      aria-label="Findings by what they belong to"
      className={cx("min-w-0 flex-1 overflow-y-auto p-4 sm:p-6", chosen && "max-md:hidden")}
    >
      <Legend />
      <ul className="flex flex-wrap items-end gap-x-2 gap-y-3">
        {islands.map((island) => (
          <li key={island.id} className="max-w-full max-sm:w-[calc(50%-0.25rem)]">
            <button
              type="button"
              aria-pressed={island.id === chosen}
              aria-label={`${clean(island.label)}: ${plural(island.nodes.length, "finding")}`}
              onClick={() => onChoose(island.id)}
              className="flex w-full min-w-32 flex-col items-center gap-1.5 rounded-xl border border-transparent p-2.5 hover:border-line hover:bg-raised aria-pressed:border-accent aria-pressed:bg-accent-soft"
            >
              <Heap nodes={island.nodes} />
              <Name island={island} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
});

function Name({ island }: { island: Island }) {
  return (
    <span className="grid max-w-[min(11rem,100%)] text-center text-xs">
      <span data-text className="truncate font-medium text-ink">
        {clean(island.label)}
      </span>
      <span data-text className="truncate text-ink-3">
        {island.nodes.length}
        {island.doubtful > 0 && <span className="text-bad"> · {island.doubtful} in doubt</span>}
      </span>
      {island.near.length > 0 && (
        <span data-text className="truncate text-ink-3">
          with {island.near.map(clean).join(", ")}
        </span>
      )}
    </span>
  );
}

/** One path for each colour: as many dots as there are, and hardly any elements. */
function Heap({ nodes }: { nodes: Drawn[] }) {
  const { dots, radius } = heap(nodes.length);
  const paths = new Map<string, string>();
  nodes.forEach((node, index) => {
    const [x, y] = dots[index] ?? [0, 0];
    const color = COLORS[node.state === "active" ? node.kind : "doubt"];
    const dot = `M${(x - DOT).toFixed(1)},${y.toFixed(1)}a${DOT},${DOT} 0 1,0 ${2 * DOT},0a${DOT},${DOT} 0 1,0 ${-2 * DOT},0`;
    paths.set(color, (paths.get(color) ?? "") + dot);
  });
  const size = Math.ceil(2 * radius);
  return (
    <svg
      aria-hidden
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      className="h-auto max-w-full"
    >
      {[...paths].map(([color, path]) => (
        <path key={color} d={path} fill={color} />
      ))}
    </svg>
  );
}

function Legend() {
  const names: [string, string][] = [
    ...Object.entries(KINDS).map(([kind, name]): [string, string] => [COLORS[kind as Kind], name]),
    [COLORS.doubt, "In doubt"],
  ];
  return (
    <ul aria-label="Colours" className="mb-4 flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-2">
      {names.map(([color, name]) => (
        <li key={name} className="flex items-center gap-1.5">
          <span className="size-2 rounded-full" style={{ backgroundColor: color }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

/** What lies on an island, to go on from. */
export function IslandList({
  island,
  tag,
  onClose,
}: {
  island: Island;
  /** What it is searched by, where it can be. */
  tag?: string;
  onClose: () => void;
}) {
  return (
    <section
      aria-label={clean(island.label)}
      className="flex w-96 min-w-0 shrink-0 flex-col border-l bg-raised max-md:w-full max-md:border-0"
    >
      <div className="flex items-center gap-2 border-b px-4 py-2">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{clean(island.label)}</h2>
        {tag && tag !== NONE && tag !== REST && (
          <Link
            to="/knowledge"
            search={{ tag }}
            className="text-xs text-accent-text hover:underline"
          >
            as a list
          </Link>
        )}
        <Button size="icon" look="quiet" aria-label="Close" onClick={onClose}>
          <X size={15} />
        </Button>
      </div>
      <div className="min-h-0 flex-1">
        <Virtuoso
          data={island.nodes}
          computeItemKey={(_, node) => node.id}
          itemContent={(_, node) => (
            <Link
              to="."
              search={(before) => ({ ...before, node: node.id })}
              className="block space-y-1 border-b px-4 py-2 hover:bg-hover"
            >
              <span className="line-clamp-2 wrap-anywhere">{clean(node.text)}</span>
              <span className="flex gap-1.5">
                <KindChip kind={node.kind} />
                {node.state !== "active" && <StateChip state={node.state} />}
              </span>
            </Link>
          )}
        />
      </div>
    </section>
  );
}
