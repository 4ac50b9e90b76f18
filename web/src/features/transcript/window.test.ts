import { expect, test } from "vitest";
import { entriesOf, type Line } from "./messages";
import { appended, EMPTY, prepended, shifted } from "./window";

const limits = { bytes: 100, lines: 5 };
function lines(from: number, count: number, bytes = 10): Line[] {
  return Array.from({ length: count }, (_, index) => ({
    turn: 1,
    offset: from + index * bytes,
    next: from + (index + 1) * bytes,
    at: null,
    messages: [{ type: "output", text: `${from + index * bytes}` }],
  }));
}

test("what is too much goes from the beginning as lines come", () => {
  let held = appended(EMPTY, lines(0, 4), limits);
  expect(held.above).toBe(false);
  held = appended(held, lines(40, 4), limits);
  expect(held.lines.map((line) => line.offset)).toEqual([30, 40, 50, 60, 70]);
  expect(held.entries.map((entry) => entry.offset)).toEqual([30, 40, 50, 60, 70]);
  expect([held.bytes, held.above, held.below]).toEqual([50, true, false]);
});

test("what is too much goes from the end as older lines are read", () => {
  let held = appended({ ...EMPTY, above: true }, lines(50, 5), limits);
  held = prepended(held, lines(0, 3), limits);
  expect(held.lines.map((line) => line.offset)).toEqual([0, 10, 20, 50, 60]);
  expect([held.above, held.below]).toEqual([false, true]);
});

test("a line that is larger than the limit is held alone", () => {
  const held = appended(appended(EMPTY, lines(0, 3), limits), lines(30, 1, 5000), limits);
  expect(held.lines.map((line) => line.offset)).toEqual([30]);
  expect(held.bytes).toBe(5000);
});

test("rows keep their index while others come and go above them", () => {
  const [old, middle, fresh] = [lines(0, 2), lines(20, 2), lines(40, 2)].map((l) => entriesOf(l));
  const all = [...(old ?? []), ...(middle ?? []), ...(fresh ?? [])];
  expect(shifted(1000, middle ?? [], [...(middle ?? []), ...(fresh ?? [])])).toBe(1000);
  expect(shifted(1000, middle ?? [], all)).toBe(1000 - (old?.length ?? 0));
  expect(shifted(1000, all, [...(middle ?? []), ...(fresh ?? [])])).toBe(1000 + (old?.length ?? 0));
});
