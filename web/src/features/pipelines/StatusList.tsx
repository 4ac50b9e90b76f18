import { CornerUpLeft, MoveRight, TriangleAlert } from "lucide-react";
import type { ReactNode, Ref } from "react";
import { type Components, Virtuoso } from "react-virtuoso";
import { cx } from "@/kit/cx";
import { clean, duration } from "@/kit/text";
import { CategoryIcon, LOOK } from "./look";
import type { Lit } from "./path";
import type { Counts } from "./queries";
import {
  ANY,
  cause,
  type Finding,
  findingsAt,
  ORIGIN,
  type Placed,
  place,
  type Selected,
  type Shape,
  type Status,
  worst,
} from "./shape";

/** All that the graph tells, for the keyboard, for those who hear the page, and for phones. */
export function StatusList({
  shape,
  counts,
  findings,
  lit,
  onSelect,
}: {
  shape: Shape;
  counts: Counts | null;
  findings: Placed;
  lit: Lit | null;
  onSelect: (selected: Selected) => void;
}) {
  const rows = shape.statuses
    .map((status, index) => ({ status, index }))
    .sort((a, b) => a.status.position - b.status.position);
  const leaving = new Map<string, number[]>();
  shape.transitions.forEach(({ from }, index) => {
    const there = leaving.get(from);
    if (there) there.push(index);
    else leaving.set(from, [index]);
  });
  const titles = new Map(shape.statuses.map((one) => [one.id, one.title]));
  const transitions = (from: string) =>
    (leaving.get(from) ?? []).map((index) => (
      <TransitionRow
        key={index}
        shape={shape}
        index={index}
        to={titles.get(shape.transitions[index]?.to ?? "")}
        findings={findingsAt(findings, { kind: "transition", index })}
        lit={lit}
        onSelect={onSelect}
      />
    ));
  return (
    <Virtuoso
      className="min-h-0 flex-1"
      data={rows}
      context={{ footer: leaving.has(ANY) ? transitions(ANY) : null }}
      increaseViewportBy={400}
      initialItemCount={Math.min(rows.length, 12)}
      itemContent={(_, { status, index }) => (
        <>
          <StatusRow
            status={status}
            count={counts?.statuses.get(status.id)?.tasks ?? null}
            findings={findingsAt(findings, { kind: "status", index })}
            lit={lit}
            onClick={() => onSelect({ kind: "status", index })}
          />
          {transitions(status.id)}
        </>
      )}
      components={PARTS}
    />
  );
}

interface Row {
  status: Status;
  index: number;
}
type Extra = { footer: ReactNode };

const PARTS: Components<Row, Extra> = {
  List: ({ context: _, ref, ...rest }) => (
    <ul
      aria-label="Statuses and transitions"
      ref={ref as unknown as Ref<HTMLUListElement>}
      {...rest}
    />
  ),
  Item: ({ context: _, item: __, ...rest }) => <li {...rest} className="border-b px-2 py-1.5" />,
  Footer: ({ context }) =>
    context?.footer ? (
      <div className="px-2 py-1.5">
        <p className="px-2 py-1 font-medium text-ink-2">From any status</p>
        {context.footer}
      </div>
    ) : null,
};

function Trouble({ findings }: { findings: Finding[] }) {
  const wrong = worst(findings);
  if (!wrong) return null;
  return (
    <TriangleAlert
      aria-label={wrong}
      size={14}
      className={cx("shrink-0", wrong === "error" ? "text-bad" : "text-warn")}
    />
  );
}

const ROW_CLASS =
  "flex w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover min-h-7 max-sm:min-h-11";

function StatusRow({
  status,
  count,
  findings,
  lit,
  onClick,
}: {
  status: Status;
  count: number | null;
  findings: Finding[];
  lit: Lit | null;
  onClick: () => void;
}) {
  const visit = lit?.statuses.get(status.id);
  return (
    <button type="button" className={ROW_CLASS} onClick={onClick}>
      <CategoryIcon category={status.category} />
      <span className="min-w-0 flex-1 truncate font-medium">
        {clean(status.title)} <span className="sr-only">({LOOK[status.category].words})</span>
      </span>
      {lit?.current === status.id && (
        <span className="rounded-full bg-accent-soft px-1.5 text-[11px] font-medium text-accent-text">
          now
        </span>
      )}
      {visit && (
        <span className="text-xs text-ink-2 tabular-nums">
          {visit.seconds !== null && duration(visit.seconds)}
          {(visit.times > 1 || visit.seconds === null) && ` ${visit.times}×`}
        </span>
      )}
      <Trouble findings={findings} />
      {count !== null && count > 0 && (
        <span className="rounded-full bg-sunken px-1.5 text-[11px] font-semibold tabular-nums">
          {count}
          <span className="sr-only"> tasks</span>
        </span>
      )}
    </button>
  );
}

function TransitionRow({
  shape,
  index,
  to,
  findings,
  lit,
  onSelect,
}: {
  shape: Shape;
  index: number;
  to: string | undefined;
  findings: Finding[];
  lit: Lit | null;
  onSelect: (selected: Selected) => void;
}) {
  const one = shape.transitions[index];
  if (!one) return null;
  const fired = lit?.transitions.get(one.id) ?? 0;
  const Icon = one.to === ORIGIN ? CornerUpLeft : MoveRight;
  return (
    <button
      type="button"
      className={cx(
        ROW_CLASS,
        "pl-7 text-xs",
        fired ? "font-medium text-accent-text" : "text-ink-2",
      )}
      onClick={() => onSelect({ kind: "transition", index })}
    >
      <span className="truncate">{clean(cause(one))}</span>
      <Icon aria-label="leads to" size={12} className="shrink-0 text-ink-3" />
      <span className="min-w-0 flex-1 truncate">{clean(to ?? place(shape, one.to))}</span>
      {fired > 1 && <span className="tabular-nums">{fired}×</span>}
      <Trouble findings={findings} />
    </button>
  );
}
