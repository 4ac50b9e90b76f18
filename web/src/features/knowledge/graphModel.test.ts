import {
  BOX,
  type Drawing,
  fitting,
  heap,
  islandsOf,
  NONE,
  REST,
  surroundings,
} from "./graphModel";

type Drawn = Drawing["nodes"][number];
const node = (id: string, part: Partial<Drawn> = {}): Drawn => ({
  id,
  kind: "pattern",
  text: `About ${id}`,
  severity: null,
  tags: [],
  state: "active",
  used: 0,
  helpful: 0,
  created_at: "2026-03-01T12:00:00Z",
  ...part,
});
const edge = (from: string, to: string, kind: Drawing["edges"][number]["kind"]) => ({
  from,
  to,
  kind,
});
const drawing = (nodes: Drawn[], edges: Drawing["edges"] = []): Drawing => ({
  nodes,
  edges,
  cut: false,
});

test("every finding lies on one island: that of its most frequent tag", () => {
  const found = islandsOf(
    drawing([
      node("a", { tags: ["auth"] }),
      node("b", { tags: ["rare", "auth"], state: "stale" }),
      node("c"),
    ]),
    "tag",
  );
  expect(found.map((one) => [one.id, one.nodes.map((each) => each.id)])).toEqual([
    ["auth", ["a", "b"]],
    [NONE, ["c"]],
  ]);
  expect(found[0]).toMatchObject({ label: "#auth", doubtful: 1, near: ["#rare"] });
});

test("the smallest of very many islands lie together, and none is lost", () => {
  const nodes = Array.from({ length: 100 }, (_, n) => node(`n${n}`, { tags: [`t${n}`] }));
  const found = islandsOf(drawing(nodes), "tag");
  expect(found).toHaveLength(40);
  expect(found.at(-1)).toMatchObject({ id: REST, label: "61 smaller ones" });
  expect(found.flatMap((one) => one.nodes)).toHaveLength(100);
});

test("by task, a finding lies with the task that told of it", () => {
  const found = islandsOf(
    drawing([node("t", { kind: "task" }), node("a"), node("b")], [edge("a", "t", "found_by")]),
    "task",
  );
  expect(found.map((one) => [one.id, one.nodes.length])).toEqual([
    ["t", 2],
    [NONE, 1],
  ]);
});

test("dots of a heap lie apart and inside", () => {
  const { dots, radius } = heap(100);
  for (const [x, y] of dots) expect(Math.hypot(x - radius, y - radius)).toBeLessThan(radius);
  for (const [index, [x, y]] of dots.entries())
    for (const [u, v] of dots.slice(index + 1))
      expect(Math.hypot(x - u, y - v)).toBeGreaterThan(3.8);
});

test("surroundings are as many steps wide as is asked for, and say how each hangs on", () => {
  const whole = drawing(
    [node("t", { kind: "task" }), node("u", { kind: "task" }), node("a"), node("b"), node("z")],
    [edge("a", "t", "found_by"), edge("b", "t", "found_by"), edge("t", "u", "follows")],
  );
  const near = (hops: number) =>
    surroundings(whole, "a", hops).boxes.map((one) => [one.node.id, one.relation]);
  expect(near(1)).toEqual([
    ["a", ""],
    ["t", "found by"],
  ]);
  expect(near(2)).toEqual([
    ["a", ""],
    ["t", "found by"],
    ["u", "builds on"],
    ["b", "found"],
  ]);
  expect(surroundings(whole, "a", 2).lines).toHaveLength(3);
  expect(surroundings(whole, "gone", 2).boxes).toEqual([]);
});

test("boxes never lie upon each other, and what is too much is counted", () => {
  const nodes = [
    node("t", { kind: "task" }),
    ...Array.from({ length: 50 }, (_, n) => node(`n${n}`)),
  ];
  const edges = nodes.slice(1).map((one) => edge(one.id, "t", "found_by"));
  const { boxes, more, height } = surroundings(drawing(nodes, edges), "t", 3);
  expect(boxes).toHaveLength(31);
  expect(more.map((one) => one.count)).toEqual([20]);
  const places = boxes.map((one) => one.y).slice(1);
  for (const [index, y] of places.slice(1).entries())
    expect(y - (places[index] as number)).toBeGreaterThan(BOX.height);
  expect(Math.max(...places)).toBeLessThan(height);
});

test("a circle of edges is walked once", () => {
  const nodes = [node("a"), node("b")];
  const edges = [edge("a", "b", "contradicts"), edge("b", "a", "contradicts")];
  expect(surroundings(drawing(nodes, edges), "a", 3).boxes).toHaveLength(2);
});

test("findings are found by all words, in text or tags", () => {
  const nodes = [
    node("a", { text: "Use tokens", tags: ["auth"] }),
    node("b", { text: "Use forms" }),
  ];
  expect(fitting(nodes, "AUTH use").map((one) => one.id)).toEqual(["a"]);
  expect(fitting(nodes, "  ")).toEqual([]);
});
