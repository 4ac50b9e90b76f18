/** From a pipeline to boxes and lines, by way of ELK. */
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import { ANY, cause, ORIGIN, type Shape } from "./shape";

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Line {
  /** The two ends: all transitions between them share one line. */
  id: string;
  from: string;
  to: string;
  /** Places of the transitions in the document. */
  transitions: number[];
  points: { x: number; y: number }[];
  label: { x: number; y: number; width: number; height: number };
}
export interface Drawing {
  boxes: Box[];
  lines: Line[];
}

export const ROW = 18;
const HEAD = 44;
const LETTER = 6.6;

/** What leads back to where a task came from has no one end: it stands in the box it leaves. */
export function returns(shape: Shape): Map<string, number[]> {
  const found = new Map<string, number[]>();
  shape.transitions.forEach(({ from, to }, index) => {
    if (to === ORIGIN) found.set(from, [...(found.get(from) ?? []), index]);
  });
  return found;
}

export function joined(shape: Shape): Omit<Line, "points" | "label">[] {
  const known = new Set([ANY, ...shape.statuses.map((one) => one.id)]);
  const lines = new Map<string, Omit<Line, "points" | "label">>();
  shape.transitions.forEach(({ from, to }, index) => {
    if (!known.has(from) || !known.has(to)) return;
    const id = `${from}→${to}`;
    const line = lines.get(id) ?? { id, from, to, transitions: [] };
    line.transitions.push(index);
    lines.set(id, line);
  });
  return [...lines.values()];
}

export function toElk(shape: Shape): ElkNode {
  const lines = joined(shape);
  const width = (words: string) => Math.ceil(words.length * LETTER);
  const back = returns(shape);
  // An id that stands there twice is for the linter; here it is one box.
  const children: ElkNode[] = [...new Map(shape.statuses.map((one) => [one.id, one])).values()]
    .sort((a, b) => a.position - b.position)
    .map((one) => {
      const rows = back.get(one.id)?.length ?? 0;
      return {
        id: one.id,
        width: Math.min(240, Math.max(148, width(one.title) + 96)),
        height: HEAD + rows * ROW + (rows ? 6 : 0),
      };
    });
  if (lines.some((line) => line.from === ANY)) children.push({ id: ANY, width: 110, height: 32 });
  const edges: ElkExtendedEdge[] = lines.map((line) => ({
    id: line.id,
    sources: [line.from],
    targets: [line.to],
    labels: [
      {
        text: line.id,
        layoutOptions: { "elk.edgeLabels.inline": "true" },
        // Room for how often it fired, beside the words.
        width:
          38 +
          Math.max(
            ...line.transitions.map((index) => {
              const one = shape.transitions[index];
              return one ? Math.min(170, width(cause(one))) : 0;
            }),
          ),
        height: line.transitions.length * ROW,
      },
    ],
  }));
  return {
    id: "root",
    children,
    edges,
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.layered.cycleBreaking.strategy": "MODEL_ORDER",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.edgeLabels.placement": "CENTER",
      "elk.spacing.nodeNode": "28",
      "elk.spacing.edgeNode": "16",
      "elk.spacing.edgeEdge": "12",
      "elk.spacing.edgeLabel": "2",
      "elk.layered.spacing.nodeNodeBetweenLayers": "30",
      "elk.layered.spacing.edgeNodeBetweenLayers": "14",
      "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
    },
  };
}

export function fromElk(shape: Shape, laid: ElkNode): Drawing {
  const lines = new Map(joined(shape).map((line) => [line.id, line]));
  return {
    boxes: (laid.children ?? []).map(({ id, x = 0, y = 0, width = 0, height = 0 }) => ({
      id,
      x,
      y,
      width,
      height,
    })),
    lines: (laid.edges ?? []).flatMap((edge) => {
      const line = lines.get(edge.id);
      const section = edge.sections?.[0];
      if (!line || !section) return [];
      const label = edge.labels?.[0];
      const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
      const { x = 0, y = 0, width = 0, height = 0 } = label ?? {};
      return [{ ...line, points, label: { x, y, width, height } }];
    }),
  };
}

/** A line with rounded corners. */
export function drawn(points: Line["points"], radius = 6): string {
  const parts: string[] = [];
  points.forEach((point, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    if (!before) parts.push(`M${point.x},${point.y}`);
    else if (!after) parts.push(`L${point.x},${point.y}`);
    else {
      const into = toward(point, before, radius);
      const out = toward(point, after, radius);
      parts.push(`L${into.x},${into.y}Q${point.x},${point.y} ${out.x},${out.y}`);
    }
  });
  return parts.join("");
}

function toward(from: Line["points"][number], to: Line["points"][number], most: number) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(most, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
