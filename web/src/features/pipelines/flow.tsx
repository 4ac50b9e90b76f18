/** The parts of the graph: a box for each status, a line for all transitions between two of them. */
import {
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
} from "@xyflow/react";
import { CornerUpLeft, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { cx } from "@/kit/cx";
import { clean, duration } from "@/kit/text";
import { drawn, type Line, ROW } from "./layout";
import { CategoryIcon, LOOK } from "./look";
import type { Visit } from "./path";
import { type Finding, type Selected, type Status, worst } from "./shape";

export interface Cause {
  index: number;
  words: string;
  fired: number | null;
  findings: Finding[];
  selected: boolean;
}
export interface BoxData extends Record<string, unknown> {
  status: Status;
  index: number;
  count: number | null;
  visit: Visit | null;
  /** Whether a path is shown at all, so that what is not on it steps back. */
  pathShown: boolean;
  current: boolean;
  selected: boolean;
  findings: Finding[];
  returns: Cause[];
  select: (selected: Selected) => void;
}
export interface LineData extends Record<string, unknown> {
  points: Line["points"];
  label: Line["label"];
  causes: Cause[];
  pathShown: boolean;
  select: (selected: Selected) => void;
}
export type BoxNode = Node<BoxData, "status">;
export type AnyNode = Node<Record<string, never>, "any">;
export type LineEdge = Edge<LineData, "transitions">;

const HANDLE = "opacity-0! pointer-events-none!";

function Ends() {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} className={HANDLE} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} className={HANDLE} />
    </>
  );
}

export const StatusBox = memo(function StatusBox({ data }: NodeProps<BoxNode>) {
  const { status, count, visit, pathShown, current, findings } = data;
  const away = pathShown && !visit;
  const wrong = worst(findings);
  return (
    <div
      className={cx(
        "flex size-full flex-col rounded-lg border bg-raised shadow-xs",
        away ? "border-dashed border-line-strong" : LOOK[status.category].box,
        status.category === "final" && !away && "border-double border-4",
        visit && "ring-2 ring-accent/50",
        data.selected && "outline-2 outline-offset-2 outline-accent",
        wrong === "error" && "border-bad",
      )}
    >
      <Ends />
      <button
        type="button"
        tabIndex={-1}
        onClick={() => data.select({ kind: "status", index: data.index })}
        className={cx(
          "nopan flex min-h-0 w-full flex-1 items-center gap-2 rounded-md px-2.5 text-left",
          away && "text-ink-2",
        )}
      >
        {current && <span className="pulse-dot size-2 shrink-0 rounded-full bg-accent" />}
        <CategoryIcon category={status.category} />
        <span className="min-w-0 flex-1">
          <span className="block truncate text-[13px] font-medium">{clean(status.title)}</span>
          {visit && (visit.seconds !== null || visit.times > 1) && (
            <span className="block truncate text-[11px] text-ink-2 tabular-nums">
              {visit.seconds !== null && duration(visit.seconds)}
              {visit.times > 1 && ` ${visit.times}×`}
            </span>
          )}
        </span>
        {wrong && (
          <TriangleAlert
            aria-label={wrong}
            size={14}
            className={wrong === "error" ? "text-bad" : "text-warn"}
          />
        )}
        {count !== null && count > 0 && (
          <span className="rounded-full bg-sunken px-1.5 text-[11px] font-semibold tabular-nums">
            {count}
            <span className="sr-only"> tasks</span>
          </span>
        )}
      </button>
      {data.returns.length > 0 && (
        <div className="border-t border-dashed py-0.5">
          {data.returns.map((one) => (
            <CauseButton key={one.index} cause={one} pathShown={pathShown} select={data.select}>
              <CornerUpLeft aria-hidden size={11} className="shrink-0" />
            </CauseButton>
          ))}
        </div>
      )}
    </div>
  );
});

export const AnyBox = memo(function AnyBox() {
  return (
    <div className="grid size-full place-items-center rounded-full border border-dashed border-line-strong bg-bg text-xs text-ink-2">
      <Ends />
      any status
    </div>
  );
});

export const TransitionLine = memo(function TransitionLine({
  data,
  markerEnd,
  style,
}: EdgeProps<LineEdge>) {
  if (!data) return null;
  const { x, y, width, height } = data.label;
  return (
    <>
      <path
        d={drawn(data.points)}
        markerEnd={markerEnd}
        style={style}
        fill="none"
        className="react-flow__edge-path"
      />
      <EdgeLabelRenderer>
        <div
          className="nopan pointer-events-auto absolute z-2 rounded bg-bg"
          style={{ transform: `translate(${x}px, ${y}px)`, width, height }}
        >
          {data.causes.map((one) => (
            <CauseButton
              key={one.index}
              cause={one}
              pathShown={data.pathShown}
              select={data.select}
            />
          ))}
        </div>
      </EdgeLabelRenderer>
    </>
  );
});

function CauseButton({
  cause,
  pathShown,
  select,
  children,
}: {
  cause: Cause;
  pathShown: boolean;
  select: (selected: Selected) => void;
  children?: React.ReactNode;
}) {
  const wrong = worst(cause.findings);
  const fired = cause.fired !== null && cause.fired > 0;
  return (
    <button
      type="button"
      tabIndex={-1}
      title={cause.words}
      onClick={() => select({ kind: "transition", index: cause.index })}
      style={{ height: ROW }}
      className={cx(
        "flex w-full items-center justify-center gap-1 rounded px-1 text-[11px] hover:bg-hover",
        pathShown && !fired ? "text-ink-3" : "text-ink-2",
        fired && "font-semibold text-accent-text",
        cause.selected && "bg-accent-soft text-accent-text",
        wrong === "error" && "bg-bad-soft text-bad",
        wrong === "warning" && "bg-warn-soft text-warn",
      )}
    >
      {children}
      <span className="truncate">{cause.words}</span>
      {fired && (cause.fired ?? 0) > 1 && <span className="tabular-nums">{cause.fired}×</span>}
    </button>
  );
}
