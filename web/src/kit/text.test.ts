// @vitest-environment node
import { clean, count, duration, money, percent, shortened } from "./text";

test("text cannot steer the page", () => {
  expect(clean("\x1b[31mred\x1b[0m \x1b]0;title\x07x")).toBe("red x");
  expect(clean("a\u202efdp.exe")).toBe("a�fdp.exe");
  expect(clean("a\r\nb\rc\u0000")).toBe("a\nb\nc");
});

test("what is unknown is said to be, and never 0", () => {
  expect([money(null), count(null), duration(null), percent(null)]).toEqual(
    Array(4).fill("unknown"),
  );
  expect([money(0), money(0.001), money(1.5), money(250)]).toEqual([
    "$0",
    "<$0.01",
    "$1.50",
    "$250",
  ]);
});

test("a long text is cut, and how much is told", () => {
  expect(shortened("abcdef", 4)).toEqual({ text: "abcd", cut: 2 });
});
