import {
  Background,
  type Edge,
  MarkerType,
  type Node,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { Maximize, RefreshCw, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "@/app/keys";
import { useDark } from "@/app/theme";
import { Button } from "@/kit/Button";
import { Failed, Loading } from "@/kit/State";
import { clean } from "@/kit/text";
import { AnyBox, type Cause, StatusBox, TransitionLine } from "./flow";
import { type Drawing, returns } from "./layout";
import { Layouter } from "./layouter";
import type { Lit } from "./path";
import type { Counts } from "./queries";
import { ANY, cause, findingsAt, type Placed, type Selected, type Shape } from "./shape";
import "@xyflow/react/dist/style.css";
import "./graph.css";

export interface GraphProps {
  shape: Shape;
  counts: Counts | null;
  findings: Placed;
  lit: Lit | null;
  selected: Selected | null;
  onSelect: (selected: Selected | null) => void;
}

const NODES = { status: StatusBox, any: AnyBox };
const EDGES = { transitions: TransitionLine };
const MANY = 100;
const QUIET = "color-mix(in srgb, var(--ink-3) 55%, var(--bg))";
const FIT = { padding: 0.06, maxZoom: 1, duration: 200 };

export default function Graph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Drawn {...props} />
    </ReactFlowProvider>
  );
}

/** What was drawn before is shown at once when it is looked at again. */
const drawings = new Map<string, Drawing>();
const MOST_KEPT = 20;

/** Laid out anew when what hangs together changes, not when a word does. */
function useDrawing(shape: Shape, wish: number) {
  const structure = useMemo(
    () =>
      JSON.stringify([
        shape.statuses.map((one) => [one.id, one.title, one.position]),
        shape.transitions.map((one) => [one.from, one.to, cause(one)]),
      ]),
    [shape],
  );
  const [drawing, setDrawing] = useState(() => drawings.get(structure) ?? null);
  const [error, setError] = useState<unknown>(null);
  const layouter = useRef<Layouter | null>(null);
  const latest = useRef(shape);
  latest.current = shape;
  useEffect(() => () => layouter.current?.end(), []);
  useEffect(() => {
    let wanted = true;
    const known = wish === 0 ? drawings.get(structure) : undefined;
    if (known) {
      setDrawing(known);
      return;
    }
    layouter.current ??= new Layouter();
    layouter.current.draw(latest.current).then(
      (done) => {
        if (!wanted) return;
        for (const old of [...drawings.keys()].slice(0, -MOST_KEPT)) drawings.delete(old);
        drawings.set(structure, done);
        setDrawing(done);
        setError(null);
      },
      (failure) => wanted && setError(failure),
    );
    return () => {
      wanted = false;
    };
  }, [structure, wish]);
  return { drawing, error };
}

function Drawn({ shape, counts, findings, lit, selected, onSelect }: GraphProps) {
  const flow = useReactFlow();
  const [wish, setWish] = useState(0);
  const { drawing, error } = useDrawing(shape, wish);
  const dark = useDark();
  useShortcuts("Graph", [
    { keys: "l", label: "Lay out anew", run: () => setWish((before) => before + 1) },
    { keys: "0", label: "Show the whole graph", run: () => void flow.fitView(FIT) },
  ]);
  useEffect(() => {
    if (drawing) requestAnimationFrame(() => void flow.fitView({ ...FIT, nodes: first(drawing) }));
  }, [drawing, flow]);
  const { nodes, edges } = useMemo(
    () =>
      drawing
        ? parts(drawing, shape, counts, findings, lit, selected, onSelect)
        : { nodes: [], edges: [] },
    [drawing, shape, counts, findings, lit, selected, onSelect],
  );
  if (error && !drawing) return <Failed error={error} again={() => setWish((n) => n + 1)} />;
  if (!drawing) return <Loading rows={8} />;
  return (
    <ReactFlow
      aria-label={`Graph of ${clean(shape.name)}. The list beside it tells the same.`}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODES}
      edgeTypes={EDGES}
      colorMode={dark ? "dark" : "light"}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      onlyRenderVisibleElements={nodes.length > MANY}
      panOnScroll
      minZoom={0.05}
      maxZoom={2}
      onPaneClick={() => onSelect(null)}
      deleteKeyCode={null}
      disableKeyboardA11y
    >
      <Background gap={20} color="var(--line)" />
      <Panel position="bottom-left" className="flex gap-1 rounded-lg border bg-raised p-0.5">
        <Button
          size="icon"
          look="quiet"
          aria-label="Zoom in"
          onClick={() => void flow.zoomIn({ duration: 150 })}
        >
          <ZoomIn size={15} />
        </Button>
        <Button
          size="icon"
          look="quiet"
          aria-label="Zoom out"
          onClick={() => void flow.zoomOut({ duration: 150 })}
        >
          <ZoomOut size={15} />
        </Button>
        <Button
          size="icon"
          look="quiet"
          aria-label="Show the whole graph (0)"
          title="Show the whole graph (0)"
          onClick={() => void flow.fitView(FIT)}
        >
          <Maximize size={15} />
        </Button>
        <Button
          size="icon"
          look="quiet"
          aria-label="Lay out anew (l)"
          title="Lay out anew (l)"
          onClick={() => setWish((before) => before + 1)}
        >
          <RefreshCw size={15} />
        </Button>
      </Panel>
    </ReactFlow>
  );
}

/** What is looked at first: all of it, or where a large one begins. */
function first({ boxes }: Drawing): { id: string }[] {
  return boxes.length > MANY ? [...boxes].sort((a, b) => a.y - b.y).slice(0, 8) : boxes;
}

function parts(
  drawing: Drawing,
  shape: Shape,
  counts: Counts | null,
  findings: Placed,
  lit: Lit | null,
  selected: Selected | null,
  onSelect: (selected: Selected) => void,
): { nodes: Node[]; edges: Edge[] } {
  const isSelected = (kind: Selected["kind"], index: number) =>
    selected?.kind === kind && selected.index === index;
  const causeAt = (index: number): Cause[] => {
    const one = shape.transitions[index];
    if (!one) return [];
    return [
      {
        index,
        words: clean(cause(one)),
        fired: lit ? (lit.transitions.get(one.id) ?? 0) : null,
        findings: findingsAt(findings, { kind: "transition", index }),
        selected: isSelected("transition", index),
      },
    ];
  };
  const back = returns(shape);
  const places = new Map(shape.statuses.map((one, index) => [one.id, index]));
  const nodes = drawing.boxes.flatMap((box): Node[] => {
    const base = {
      id: box.id,
      position: { x: box.x, y: box.y },
      width: box.width,
      height: box.height,
    };
    if (box.id === ANY) return [{ ...base, type: "any", data: {} }];
    const index = places.get(box.id);
    const status = index === undefined ? undefined : shape.statuses[index];
    if (index === undefined || !status) return [];
    return [
      {
        ...base,
        type: "status",
        data: {
          status,
          index,
          count: counts?.statuses.get(box.id)?.tasks ?? null,
          visit: lit?.statuses.get(box.id) ?? null,
          pathShown: lit !== null,
          current: lit?.current === box.id,
          selected: isSelected("status", index),
          findings: findingsAt(findings, { kind: "status", index }),
          returns: (back.get(box.id) ?? []).flatMap(causeAt),
          select: onSelect,
        },
      },
    ];
  });
  const known = new Set(nodes.map((node) => node.id));
  const edges = drawing.lines.flatMap((line): Edge[] => {
    if (!known.has(line.from) || !known.has(line.to)) return [];
    const causes = line.transitions.flatMap(causeAt);
    const fired = causes.some((one) => (one.fired ?? 0) > 0);
    const strong = fired || causes.some((one) => one.selected);
    const color = strong ? "var(--accent)" : QUIET;
    return [
      {
        id: line.id,
        source: line.from,
        target: line.to,
        type: "transitions",
        zIndex: strong ? 1 : 0,
        style: {
          stroke: color,
          strokeWidth: strong ? 2.5 : 1.5,
          strokeDasharray: line.from === ANY ? "4 4" : undefined,
        },
        markerEnd: { type: MarkerType.ArrowClosed, color, width: 14, height: 14 },
        data: {
          points: line.points,
          label: line.label,
          causes,
          pathShown: lit !== null,
          select: onSelect,
        },
      },
    ];
  });
  return { nodes, edges };
}
