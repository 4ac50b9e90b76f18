import { diffLines } from "./diffLines";

const told = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text, number }) => `${kind} ${number} ${text}`.trim());

it("tells what was taken out and what was put in, with the lines around", () => {
  const before = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].join("\n");
  expect(told(before, before.replace("e\n", "E\nE2\n"))).toEqual([
    "gap 1",
    "same 2 b",
    "same 3 c",
    "same 4 d",
    "removed 5 e",
    "added 5 E",
    "added 6 E2",
    "same 7 f",
    "same 8 g",
    "same 9 h",
    "gap 1",
  ]);
});

it("finds what two changed parts have in common", () => {
  expect(told("x\nkept\ny", "1\nkept\n2")).toEqual([
    "removed 1 x",
    "added 1 1",
    "same 2 kept",
    "removed 3 y",
    "added 3 2",
  ]);
});

it("has nothing to tell of what is the same, and all of what is new", () => {
  expect(told("a\nb", "a\nb")).toEqual(["gap 2"]);
  expect(told("a", "a\nb")).toEqual(["same 1 a", "added 2 b"]);
});

it("does not take for ever over two long texts", () => {
  const long = (mark: string) => Array.from({ length: 5000 }, (_, n) => `${mark}${n}`).join("\n");
  expect(diffLines(long("a"), long("b"))).toHaveLength(10_000);
});
