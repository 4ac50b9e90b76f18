/** What the drawing shows of up to 2,000 findings: islands of those that belong together, and the
 * surroundings of one. Both are laid out by rule, so that no text ever lies upon another. */
import type { Schemas } from "@/api/client";
import { KINDS } from "./look";
import { type EdgeKind, relationOf } from "./relations";

export type Drawing = Schemas["KnowledgeGraph"];
export type Drawn = Schemas["DrawnNode"];
export type By = "tag" | "task" | "kind";

export interface Island {
  id: string;
  label: string;
  nodes: Drawn[];
  /** How many of them are stale or contradicted. */
  doubtful: number;
  /** The islands that its nodes belong to as well, the nearest first. */
  near: string[];
}

export const NONE = "~none";
export const REST = "~rest";
const MOST_ISLANDS = 40;
const MOST_NEAR = 3;

/** Every node on one island; the biggest first, and the smallest of very many together at the end. */
export function islandsOf(drawing: Drawing, by: By): Island[] {
  const places = placesOf(drawing, by);
  const sizes = new Map<string, number>();
  for (const node of drawing.nodes)
    for (const { id } of places(node)) sizes.set(id, (sizes.get(id) ?? 0) + 1);
  const size = (id: string) => sizes.get(id) ?? 0;
  const made = new Map<string, Island & { beside: Map<string, number> }>();
  for (const node of drawing.nodes) {
    const [home, ...others] = places(node).sort((a, b) => size(b.id) - size(a.id));
    const { id, label } = home ?? { id: NONE, label: by === "tag" ? "no tag" : "no task" };
    const bare: Island = { id, label, nodes: [], doubtful: 0, near: [] };
    const island = made.get(id) ?? { ...bare, beside: new Map() };
    made.set(id, island);
    island.nodes.push(node);
    if (node.state !== "active") island.doubtful++;
    for (const other of others)
      island.beside.set(other.label, (island.beside.get(other.label) ?? 0) + 1);
  }
  const islands = [...made.values()]
    .sort((a, b) => b.nodes.length - a.nodes.length)
    .map(({ beside, ...island }) => ({
      ...island,
      near: [...beside]
        .sort((a, b) => b[1] - a[1])
        .slice(0, MOST_NEAR)
        .map(([label]) => label),
    }));
  if (islands.length <= MOST_ISLANDS) return islands;
  const rest = islands.slice(MOST_ISLANDS - 1);
  return [
    ...islands.slice(0, MOST_ISLANDS - 1),
    {
      id: REST,
      label: `${rest.length} smaller ones`,
      nodes: rest.flatMap((one) => one.nodes),
      doubtful: rest.reduce((sum, one) => sum + one.doubtful, 0),
      near: [],
    },
  ];
}

function placesOf(drawing: Drawing, by: By): (node: Drawn) => { id: string; label: string }[] {
  if (by === "tag") return (node) => node.tags.map((tag) => ({ id: tag, label: `#${tag}` }));
  if (by === "kind") return (node) => [{ id: node.kind, label: KINDS[node.kind] }];
  const known = new Map(drawing.nodes.map((node) => [node.id, node]));
  const tasks = new Map<string, { id: string; label: string }[]>();
  for (const edge of drawing.edges) {
    const task = edge.kind === "found_by" ? known.get(edge.to) : undefined;
    if (!task) continue;
    const found = tasks.get(edge.from) ?? [];
    tasks.set(edge.from, [...found, { id: task.id, label: task.text }]);
  }
  return (node) =>
    node.kind === "task" ? [{ id: node.id, label: node.text }] : (tasks.get(node.id) ?? []);
}

const STEP = 4.6;
const TURN = Math.PI * (3 - Math.sqrt(5));

/** Dots in a round heap, as seeds lie in a sunflower: evenly, however many. */
export function heap(count: number): { dots: [x: number, y: number][]; radius: number } {
  const radius = STEP * Math.sqrt(Math.max(count, 12)) + STEP;
  const dots = Array.from({ length: count }, (_, index): [number, number] => {
    const out = STEP * Math.sqrt(index + 0.5);
    const angle = index * TURN;
    return [radius + out * Math.cos(angle), radius + out * Math.sin(angle)];
  });
  return { dots, radius };
}

export interface Box {
  node: Drawn;
  /** How it hangs together with the one that it was reached by. */
  relation: string;
  x: number;
  y: number;
}
export interface Line {
  key: string;
  kind: EdgeKind;
  path: string;
}
export interface Surroundings {
  boxes: Box[];
  lines: Line[];
  /** By distance: how many more there are than are drawn. */
  more: { count: number; x: number; y: number }[];
  width: number;
  height: number;
}

export const BOX = { width: 236, height: 76 };
const APART = { x: 84, y: 12 };
const MOST_IN_A_COLUMN = 30;

/** What is at most so many steps away, in one column for each step. */
export function surroundings(drawing: Drawing, start: string, hops: number): Surroundings {
  const known = new Map(drawing.nodes.map((node) => [node.id, node]));
  const near = new Map<string, Drawing["edges"]>();
  for (const edge of drawing.edges)
    for (const id of [edge.from, edge.to]) {
      const edges = near.get(id);
      if (edges) edges.push(edge);
      else near.set(id, [edge]);
    }
  const linked = (id: string) =>
    // What a task found is the most by far, so that it comes after the rest.
    [...(near.get(id) ?? [])]
      .sort((a, b) => rank(a.kind) - rank(b.kind))
      .map((edge) => {
        const outward = edge.from === id;
        return { id: outward ? edge.to : edge.from, relation: relationOf(edge.kind, outward) };
      });
  const placed = new Map<string, Box>();
  const more: Surroundings["more"] = [];
  let column = known.has(start) ? [{ id: start, relation: "" }] : [];
  const seen = new Set([start]);
  for (let step = 0; step <= hops && column.length > 0; step++) {
    const x = step * (BOX.width + APART.x);
    const shown = column.slice(0, MOST_IN_A_COLUMN);
    const place = (row: number) => row * (BOX.height + APART.y);
    shown.forEach(({ id, relation }, row) => {
      const node = known.get(id);
      if (node) placed.set(id, { node, relation, x, y: place(row) });
    });
    if (column.length > shown.length)
      more.push({ count: column.length - shown.length, x, y: place(shown.length) });
    const next: typeof column = [];
    for (const { id } of shown)
      for (const one of linked(id)) {
        if (seen.has(one.id) || !known.has(one.id)) continue;
        seen.add(one.id);
        next.push(one);
      }
    column = next;
  }
  const boxes = [...placed.values()];
  return {
    boxes,
    lines: linesOf([...placed.keys()], near, placed),
    more,
    width: Math.max(0, ...boxes.map((one) => one.x)) + BOX.width + APART.x / 2,
    height: Math.max(0, ...[...boxes, ...more].map((one) => one.y)) + BOX.height,
  };
}

function linesOf(
  ids: string[],
  near: Map<string, Drawing["edges"]>,
  placed: Map<string, Box>,
): Line[] {
  const lines = new Map<string, Line>();
  for (const id of ids)
    for (const edge of near.get(id) ?? []) {
      const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
      const key = `${edge.from} ${edge.kind} ${edge.to}`;
      if (from && to) lines.set(key, { key, kind: edge.kind, path: curve(from, to) });
    }
  return [...lines.values()];
}

function curve(one: Box, other: Box): string {
  const [left, right] = one.x <= other.x ? [one, other] : [other, one];
  const middle = BOX.height / 2;
  const x = left.x + BOX.width;
  const [y, end] = [left.y + middle, right.y + middle];
  const half = APART.x / 2;
  // Two of one column: around their right side.
  if (left.x === right.x) return `M${x},${y} C${x + half},${y} ${x + half},${end} ${x},${end}`;
  return `M${x},${y} C${x + half},${y} ${right.x - half},${end} ${right.x},${end}`;
}

const rank = (kind: EdgeKind) => (kind === "found_by" ? 1 : 0);

const MOST_FITS = 8;

/** Those that have every word, in what they say or their tags; by id, too. */
export function fitting(nodes: Drawn[], text: string): Drawn[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: Drawn[] = [];
  for (const node of nodes) {
    const said = `${node.text} ${node.tags.join(" ")} ${node.id}`.toLowerCase();
    if (words.every((word) => said.includes(word)) && found.push(node) === MOST_FITS) break;
  }
  return found;
}
