// @vitest-environment node
import { answer, BLANK, type ChangedFile, foldedAtFirst, missing, type Review } from "./model";

const review: Review = {
  summary: " Nearly. ",
  comments: [
    { id: "1", file: "a.py", line: 3, severity: "must_fix", text: " Off by one. " },
    { id: "2", file: "b.py", line: null, severity: "suggestion", text: "Rename." },
    { id: "3", file: "b.py", line: 9, severity: "suggestion", text: "  " },
  ],
};

test("a review is sent as one answer, without its empty comments", () => {
  expect(answer(review, "changes_requested")).toEqual({
    decision: "changes_requested",
    summary: "Nearly.",
    comments: [
      { file: "a.py", line: 3, severity: "must_fix", comment: "Off by one." },
      { file: "b.py", severity: "suggestion", comment: "Rename." },
    ],
  });
});

test("changes cannot be asked for without a word", () => {
  expect(missing(BLANK, "changes_requested")).toContain("Say what");
  expect(missing(BLANK, "approved")).toBeNull();
  expect(missing({ ...BLANK, summary: "x" }, "changes_requested")).toBeNull();
});

test("generated and long files are folded", () => {
  const file: ChangedFile = {
    path: "a",
    old_path: null,
    status: "modified",
    additions: 3,
    deletions: 1,
    binary: false,
    generated: false,
  };
  expect(foldedAtFirst(file)).toBe(false);
  expect(foldedAtFirst({ ...file, generated: true })).toBe(true);
  expect(foldedAtFirst({ ...file, additions: 9000 })).toBe(true);
  expect(foldedAtFirst({ ...file, binary: true, additions: null, deletions: null })).toBe(true);
});
