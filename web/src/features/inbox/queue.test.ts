import { expect, it } from "vitest";
import type { InboxItem } from "@/api/client";
import { grouped, listed, nextAfter, parted, stepped, tomorrow } from "./queue";

const item = (id: string, type: string) =>
  ({ prompt: { id, type, payload: {} } }) as unknown as InboxItem;

const items = [item("a", "review"), item("b", "choice"), item("c", "review")];
const ids = (found: InboxItem[]) => found.map((one) => one.prompt.id);

it("shows a question once, also where it moved from one page to another", () => {
  const page = (...found: InboxItem[]) => ({ items: found, next: null, total: 3 });
  const [a, b, c] = items as [InboxItem, InboxItem, InboxItem];
  expect(ids(listed([page(a, b), page(b, c)]))).toEqual(["a", "b", "c"]);
});

it("sets aside what is snoozed until its time", () => {
  const seen = parted(items, { a: 100, c: 50 }, 60);
  expect([ids(seen.open), ids(seen.snoozed)]).toEqual([["b", "c"], ["a"]]);
  expect(ids(parted(items, {}, 0).open)).toEqual(["a", "b", "c"]);
});

it("groups by kind, in the order in which the kinds come", () => {
  const groups = grouped(items, true);
  expect(groups.map((one) => [one.kind?.id, ids(one.items)])).toEqual([
    ["review", ["a", "c"]],
    ["choice", ["b"]],
  ]);
  expect(grouped(items, false)).toHaveLength(1);
  expect(grouped([], false)).toEqual([]);
});

it("goes on to the next question, and back from the last", () => {
  expect(nextAfter(["a", "b", "c"], "a")).toBe("b");
  expect(nextAfter(["a", "b"], "b")).toBe("a");
  expect(nextAfter(["a"], "a")).toBeUndefined();
  expect(nextAfter(["a"], "gone")).toBe("a");
  expect(stepped(["a", "b"], "b", 1)).toBe("b");
  expect(stepped(["a", "b"], "a", -1)).toBe("a");
  expect(stepped(["a", "b"], undefined, 1)).toBe("a");
});

it("tomorrow begins at nine, also at the end of a year", () => {
  expect(new Date(tomorrow(new Date(2026, 11, 31, 23, 30)))).toEqual(new Date(2027, 0, 1, 9));
});
