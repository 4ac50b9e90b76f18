import type { Schemas } from "@/api/client";
import { asNamedNow, loops, pathOf, pathOfDecisions } from "./path";

type History = Schemas["History"];
const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const entry = (
  seconds: number,
  from: string,
  to: string,
  more: Partial<History> = {},
): History => ({
  id: `${seconds}`,
  version: 1,
  result: "done",
  transition_id: `${from}-${to}`,
  from,
  to,
  trigger: "manual",
  outcome: null,
  actor: { type: "user", name: "ann", run: null, via: null },
  payload: null,
  guards: [],
  hooks: [],
  reason: null,
  time: at(seconds),
  ...more,
});

const HISTORY = [
  entry(10, "open", "work"),
  entry(30, "work", "review"),
  entry(35, "review", "review", { result: "refused" }),
  entry(40, "review", "work"),
  entry(45, "work", "work", { trigger: "retry" }),
  entry(60, "work", "review"),
];

it("time and visits of each status are counted, and what fired", () => {
  const lit = pathOf({ status: "review", created_at: at(0) }, HISTORY, 100_000);
  expect([...lit.statuses]).toEqual([
    ["open", { times: 1, seconds: 10 }],
    ["work", { times: 2, seconds: 40 }],
    ["review", { times: 2, seconds: 50 }],
  ]);
  expect(lit.transitions.get("work-review")).toBe(2);
  expect(lit.transitions.has("review-review")).toBe(false);
  expect(loops(lit)).toBe(2);
});

it("a task that never moved stands where it began", () => {
  const lit = pathOf({ status: "open", created_at: at(0) }, [], 7_000);
  expect([...lit.statuses]).toEqual([["open", { times: 1, seconds: 7 }]]);
});

it("a move that was taken back is a visit, and lights no line of its own", () => {
  const lit = pathOf(
    { status: "open", created_at: at(0) },
    [entry(1, "open", "work"), entry(3, "work", "open", { result: "rolled_back" })],
    5_000,
  );
  expect(lit.statuses.get("work")).toEqual({ times: 1, seconds: 2 });
  expect([...lit.transitions]).toEqual([["open-work", 1]]);
});

it("statuses before a migration have the names of now", () => {
  const payload = { statuses: { work: "doing" } };
  const told = asNamedNow([
    entry(1, "open", "work"),
    entry(2, "work", "doing", { trigger: "migration", transition_id: null, payload }),
    entry(3, "doing", "review"),
  ]);
  expect(told.map((one) => [one.from, one.to])).toEqual([
    ["open", "doing"],
    ["doing", "doing"],
    ["doing", "review"],
  ]);
});

it("a simulation lights its way, also of a second task", () => {
  const decided = (from: string, to: string, result: Schemas["Result"] = "done") =>
    ({ from, to, result, transition: `${from}-${to}` }) as Schemas["Decided"];
  const lit = pathOfDecisions("open", [
    decided("open", "work"),
    decided("work", "work", "refused"),
    decided("work", "done"),
    decided("open", "work"),
  ]);
  expect(lit.current).toBe("work");
  expect(lit.statuses.get("open")).toEqual({ times: 2, seconds: null });
  expect(lit.transitions.get("open-work")).toBe(2);
});
