import type { Schemas } from "@/api/client";
import { loops, pathOf, pathOfDecisions } from "./path";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const step = (status: string, entered: number, left: number | null, by: string | null = null) => ({
  visit: {
    status,
    entered: at(entered),
    left: left === null ? null : at(left),
    seconds: left === null ? null : left - entered,
    transition_id: by,
    trigger: by && "manual",
  },
  by: null,
});

it("time and visits of each status are counted, and what fired", () => {
  const steps = [
    step("open", 0, 10, "start"),
    step("work", 10, 30, "ready"),
    step("review", 30, 40, "back"),
    step("work", 40, 60, "ready"),
    step("review", 60, null),
  ];
  const lit = pathOf("review", { steps, totals: [] }, 100_000);
  expect([...lit.statuses]).toEqual([
    ["open", { times: 1, seconds: 10 }],
    ["work", { times: 2, seconds: 40 }],
    ["review", { times: 2, seconds: 50 }],
  ]);
  expect([...lit.transitions]).toEqual([
    ["start", 1],
    ["ready", 2],
    ["back", 1],
  ]);
  expect(loops(lit)).toBe(2);
});

it("a task that never moved stands where it began", () => {
  const lit = pathOf("open", { steps: [step("open", 0, null)], totals: [] }, 7_000);
  expect([...lit.statuses]).toEqual([["open", { times: 1, seconds: 7 }]]);
  expect(loops(lit)).toBe(0);
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
