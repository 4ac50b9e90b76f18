// @vitest-environment node
import {
  answer,
  BLANK,
  type ChangedFile,
  foldedAtFirst,
  isShown,
  missing,
  onLine,
  type Review,
  type Round,
  roundOf,
  type Thread,
  wasAt,
} from "./model";

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

const SAID: Thread = {
  number: 1,
  pull: null,
  review: "r1",
  author: "ann",
  text: "No.",
  severity: null,
  file: "a.py",
  line: 5,
  original_file: "a.py",
  original_line: 3,
  head_sha: null,
  quote: "",
  outdated: false,
  state: "open",
  resolved: false,
  answers: [],
  time: "2026-03-01T12:00:00Z",
};

test("a comment says where it was made if that is elsewhere", () => {
  expect(wasAt(SAID)).toBe("line 3");
  expect(wasAt({ ...SAID, file: "b.py" })).toBe("a.py:3");
  expect(wasAt({ ...SAID, line: 3 })).toBe("");
  expect(wasAt({ ...SAID, file: null, line: null, original_file: null, original_line: null })).toBe(
    "",
  );
});

test("a comment stands at its line only while that is there", () => {
  expect(onLine(SAID)).toBe(true);
  expect(onLine({ ...SAID, outdated: true })).toBe(false);
  expect(onLine({ ...SAID, line: null })).toBe(false);
  const patch =
    "@@ -1 +1,2 @@\n-a\n+@@ -1 +90 @@\n+b\n@@ -9,0 +11 @@ def f():\n+x\n@@ -20,2 +22,0 @@";
  expect([1, 2, 3, 10, 11, 12, 22, 90].filter((line) => isShown(patch, line))).toEqual([1, 2, 11]);
});

test("a comment is part of the review of its prompt or run", () => {
  const rounds = [
    { number: 1, prompt_id: null, run_id: "r1" },
    { number: 2, prompt_id: "p1", run_id: null },
  ] as Round[];
  expect(roundOf(SAID, rounds)).toBe(1);
  expect(roundOf({ ...SAID, review: "p1" }, rounds)).toBe(2);
  expect(roundOf({ ...SAID, review: null }, rounds)).toBeUndefined();
});
