// @vitest-environment node
import {
  arranged,
  type BoardData,
  type Card,
  dependents,
  fits,
  laneOf,
  patched,
  placeOf,
  startsOf,
} from "./model";

const card = (id: string, more: Partial<Card> = {}): Card => ({
  id,
  title: `Task ${id}`,
  project_id: "p",
  pipeline_id: "feature",
  status: "open",
  category: "open",
  type: "feature",
  priority: "medium",
  tags: [],
  version: 1,
  updated_at: "2026-01-01T00:00:00Z",
  mover: "you",
  prompt: null,
  run: null,
  round: null,
  cost: null,
  phases: null,
  pull: null,
  starts_at: null,
  waits_for: [],
  waits_for_total: 0,
  ...more,
});
const lane = (id: string, ...columns: string[]) => ({
  id,
  name: id,
  version: 1,
  columns: columns.map((column) => ({
    id: column,
    title: column,
    color: null,
    category: (column === "done" ? "final" : "open") as Card["category"],
    count: 0,
  })),
});
const board = (...cards: Card[]): BoardData => ({
  lanes: [lane("bug", "open", "done"), lane("feature", "open", "doing", "done")],
  cards,
  finished: { total: 0, shown: 0 },
});
const asked = { id: "p1", type: "info_request", since: "2026-01-01T00:00:00Z" } as Card["prompt"];

test("what waits for a person comes first, then what matters more", () => {
  const data = board(
    card("a", { priority: "low" }),
    card("b", { priority: "urgent" }),
    card("c", { prompt: asked }),
  );
  const shown = arranged(data, data.lanes[1] as BoardData["lanes"][0], {}, new Map());
  expect(shown.get("open")?.map((one) => one.id)).toEqual(["c", "b", "a"]);
});

test("a moved card is shown at its target until the server says something newer", () => {
  const moved = new Map([["a", { to: "doing", version: 1 }]]);
  expect(placeOf(card("a"), moved)).toBe("doing");
  expect(placeOf(card("a", { version: 2, status: "open" }), moved)).toBe("open");
});

test("words of the filter may stand anywhere in title, id or tags", () => {
  expect(fits(card("a", { title: "Add search", tags: ["ui"] }), { q: "UI add" })).toBe(true);
  expect(fits(card("a", { title: "Add search" }), { q: "add cart" })).toBe(false);
  expect(fits(card("a"), { waiting: "me" })).toBe(false);
});

test("the lane with most to do is shown unless another is asked for", () => {
  expect(laneOf(board(card("a")), undefined)?.id).toBe("feature");
  expect(laneOf(board(card("a")), "bug")?.id).toBe("bug");
});

test("tasks that were read again take the place of their cards, and gone ones go", () => {
  const news = board(card("a", { status: "doing", version: 2 }));
  const after = patched(board(card("a"), card("b"), card("c")), new Set(["a", "b"]), news);
  expect(after.cards.map((one) => `${one.id} ${one.status}`)).toEqual(["a doing", "c open"]);
});

test("cards that name a changed task as a dependency are read again", () => {
  const waits = card("b", { waits_for: [{ id: "a", title: "A" }], waits_for_total: 1 });
  expect(dependents([card("a"), waits, card("c")], new Set(["a", "c"]))).toEqual(["b"]);
});

test("starting many tasks is told in one sentence, and each refusal in its own", () => {
  const result = (state: "started" | "waiting" | "refused", reason = "") =>
    ({ task: { title: state }, state, reason }) as Parameters<typeof startsOf>[0][number];
  const done = [result("started"), result("waiting"), result("refused", "It is finished.")];
  expect(startsOf(done)).toEqual({
    summary: "1 started, 1 waiting for dependencies.",
    refused: ['"refused" was not started: It is finished.'],
  });
  expect(startsOf([result("refused", "No.")]).summary).toBe("");
});
