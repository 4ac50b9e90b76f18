import { describe, expect, test } from "vitest";
import {
  address,
  addressed,
  brief,
  doing,
  entriesOf,
  filtered,
  type Line,
  matches,
  step,
  took,
} from "./messages";

let offset = 0;
function line(message: object, part: Partial<Line> = {}): Line {
  const at = part.offset ?? offset;
  offset = at + 10;
  return { turn: 1, offset: at, next: at + 10, at: null, ...part, messages: [{ ...message }] };
}

describe("entries", () => {
  test("a turn begins with its heading, and a final message that was said is folded", () => {
    const entries = entriesOf([
      line({ type: "assistant", text: "I look." }, { offset: 0 }),
      line({ type: "tool_use", name: "bash", input: { command: "pytest\n-q" } }),
      line({ type: "usage_so_far", input_tokens: 3 }),
      line({ type: "result", text: "I look." }),
      line({ type: "result", text: "Mended." }, { turn: 2, offset: 0 }),
    ]);
    expect(entries.map((e) => e.kind)).toEqual(["turn", "words", "tool", "end", "turn", "end"]);
    expect(entries[2]).toMatchObject({ name: "bash", brief: "pytest -q" });
    expect(entries[3]).toMatchObject({ repeats: true });
    expect(entries[5]).toMatchObject({ repeats: false });
  });

  test("keys stay the same when older lines come before them", () => {
    const late = line({ type: "assistant", text: "b" }, { offset: 50 });
    const early = line({ type: "assistant", text: "a" }, { offset: 40 });
    expect(entriesOf([early, late]).at(-1)?.key).toBe(entriesOf([late])[0]?.key);
  });

  test("nonsense of an agent is shown and does not throw", () => {
    const odd = [{}, { type: 7 }, { type: "assistant", text: null }, { type: "tool_use" }];
    const entries = entriesOf(odd.map((message) => line(message, { offset: 5 })));
    expect(entries.map((e) => e.kind)).toEqual(["other", "other", "words", "tool"]);
  });

  test("errors are failures and lines that say so", () => {
    const entries = entriesOf([
      line({ type: "output", text: "ok" }, { offset: 1 }),
      line({ type: "output", text: "TypeError: x is not a function" }),
      line({ type: "output", text: "no errors found" }),
      line({ type: "result", error: "It crashed.", error_class: "crash" }),
    ]);
    expect(filtered(entries, "errors").map((e) => e.key)).toEqual(
      [entries[1], entries[3]].map((e) => e?.key),
    );
  });
});

test("a tool's result is found by its words, and an error if the call failed", () => {
  const entries = entriesOf([
    line({ type: "tool_use", id: "1", name: "bash", input: {} }, { offset: 1 }),
    line({ type: "tool_result", id: "1", ok: false, text: "3 passed\n1 failed" }),
    line({ type: "tool_result", id: "2", ok: true, text: "" }),
  ]);
  expect(entries.map((e) => e.kind)).toEqual(["tool", "result", "result"]);
  expect(entries[1]).toMatchObject({ brief: "3 passed 1 failed", ok: false });
  expect(matches(entries, "1 FAILED")).toEqual([1]);
  expect(filtered(entries, "errors")).toEqual([entries[1]]);
  expect(filtered(entries, "tools")).toEqual(entries);
});

test("a tool's input is one short line without control characters", () => {
  expect(brief({ file_path: "a.py", limit: 3 })).toBe("a.py");
  expect(brief({ a: [1] })).toBe('{"a":[1]}');
  expect(brief("\x1b[31mred\u202e")).toBe("red�");
  expect(brief({ command: "x".repeat(10_000_000) }).length).toBe(201);
});

test("search finds words in any case, and goes round", () => {
  const entries = entriesOf([
    line({ type: "assistant", text: "Fast" }, { offset: 1 }),
    line({ type: "assistant", text: "slow" }),
    line({ type: "tool_use", name: "FASTER", input: {} }),
  ]);
  const places = matches(entries, "fast");
  expect(places).toEqual([0, 2]);
  expect(step(places, 0, 1)).toBe(2);
  expect(step(places, 2, 1)).toBe(0);
  expect(step(places, 0, -1)).toBe(2);
  expect(step([], 0, 1)).toBeNull();
});

test("an agent is at the tool that nothing has followed yet", () => {
  const tool = line({ type: "tool_use", name: "bash", input: {} }, { offset: 1, at: 1000 });
  const usage = line({ type: "usage", input_tokens: 1 }, { at: 1100 });
  const after = line({ type: "assistant", text: "done" }, { at: 5000 });
  expect(doing(entriesOf([tool, usage]))?.name).toBe("bash");
  const [first, , last] = entriesOf([tool, usage, after]);
  expect(doing(entriesOf([tool, after]))).toBeNull();
  expect(first && took(first, last)).toBe(4);
  expect(first && took({ ...first, at: null }, last)).toBeNull();
});

test("an address names a line", () => {
  expect(addressed(`#${address({ turn: 2, offset: 77 })}`)).toEqual({ turn: 2, offset: 77 });
  expect(addressed("#42")).toBeNull();
});
