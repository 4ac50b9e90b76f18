import { expect, test } from "vitest";
import type { Run, TaskView } from "@/api/client";
import { changesOf, type Words } from "./edit";
import { settingsOf } from "./settings";
import { again, choices, costOf, onward } from "./situation";

const run = (part: Partial<Run>) =>
  ({ status: "completed", ended_at: "t", cost_usd: null, ...part }) as Run;
const view = (part: object) =>
  ({
    status: { category: "open" },
    next_mover: { kind: "person" },
    prompts: [],
    run: null,
    runs: [],
    moves: [],
    ...part,
  }) as unknown as TaskView;
const statuses = [
  { id: "doing", title: "Doing", category: "active" },
  { id: "gone", title: "Gone", category: "final" },
] as never[];
const move = (to: string, allowed: boolean, reasons: string[] = []) => ({
  id: to,
  to,
  label: to,
  allowed,
  reasons,
});

test("a cost that is unknown is neither 0 nor left out", () => {
  expect(costOf([run({}), run({ cost_usd: 0.1 }), run({ ended_at: null })])).toEqual({
    usd: 0.1,
    unknown: 1,
  });
  expect(costOf([run({})])).toEqual({ usd: null, unknown: 1 });
});

test("a move that only the agent stands in the way of can be made by stopping it", () => {
  const moves = [move("doing", false, ["An agent is running."]), move("gone", true)];
  const [doing, gone] = choices(view({ moves, run: run({ status: "running" }) }), statuses);
  expect(doing).toMatchObject({ possible: true, stops: true, ends: false });
  expect(gone).toMatchObject({ ends: true, title: "Gone" });
  expect(choices(view({ moves }), statuses)[0]).toMatchObject({ possible: false });
  expect(choices(view({ moves }), [])).toEqual([]);
});

test("there is one way onward only where nobody else is to move", () => {
  const moves = [move("doing", true), move("gone", true)];
  expect(onward(view({ moves }), choices(view({ moves }), statuses))?.move.to).toBe("doing");
  const asked = view({ moves, prompts: [{}] });
  expect(onward(asked, choices(asked, statuses))).toBeNull();
});

test("what failed can be tried again, and what waits to be tried at once", () => {
  expect(again(view({ runs: [run({ status: "failed" })] }))).toEqual({ kind: "anew" });
  expect(again(view({ runs: [run({})] }))).toBeNull();
  const waits = run({ id: "r", status: "queued" });
  const timer = { kind: "timer" };
  expect(again(view({ run: waits, runs: [waits], next_mover: timer }))).toEqual({
    kind: "now",
    run: "r",
  });
  expect(again(view({ run: waits, runs: [waits] }))).toBeNull();
});

test("settings are JSON where they can be, and a line that is none is named", () => {
  expect(settingsOf("maxTurns=20\n\nmodel = opus\nautoCommit=false")).toEqual({
    maxTurns: 20,
    model: "opus",
    autoCommit: false,
  });
  expect(settingsOf("nonsense")).toBe('"nonsense" is no setting; write it as key=value.');
});

test("only the words that were changed are sent, lists as lists", () => {
  const base = { title: "a", tags: "x, y", acceptance_criteria: "one" } as Words;
  const words = { ...base, tags: "x,z,", acceptance_criteria: "one\n\n two, three " };
  expect(changesOf(words, base)).toEqual({
    tags: ["x", "z"],
    acceptance_criteria: ["one", "two, three"],
  });
});
