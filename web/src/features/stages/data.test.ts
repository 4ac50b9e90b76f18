import { describe, expect, it } from "vitest";
import { columns, isEmpty, isShort, label, named, rowsOf, toneOf } from "./data";
import { gist } from "./gist";

describe("the shape of what agents give back", () => {
  it("takes 0 and false for something, and what holds nothing for nothing", () => {
    expect([0, false].map(isEmpty)).toEqual([false, false]);
    expect([null, "", [], {}, [[], {}], { a: [], b: "" }].map(isEmpty)).toEqual(
      Array(6).fill(true),
    );
  });
  it("makes a table of rows that fit into one, without columns that nobody fills", () => {
    const rows = [
      { id: "F1", status: "MET", files: ["a.py", "b.py"], gap: "" },
      { id: "F2", status: "NOT_MET", files: [], gap: null },
    ];
    expect(columns(rows)).toEqual(["id", "status", "files"]);
  });
  it("tells by itself what is too much for a row", () => {
    expect(columns([{ id: "F1", criteria: ["It answers with the status"] }])).toBeNull();
    expect(columns([{ id: "F1", parts: [{ a: 1 }] }])).toBeNull();
    expect(columns(["a", "b"])).toBeNull();
    expect(columns([])).toBeNull();
    const wide = Object.fromEntries("abcdefgh".split("").map((key) => [key, key]));
    expect(columns([wide])).toBeNull();
  });
  it("makes rows of things that are alike", () => {
    const test = { command: "pytest -q", verified: false };
    expect(rowsOf({ test, lint: null, install: test })).toEqual([
      { name: "Test", ...test },
      { name: "Install", ...test },
    ]);
    expect(rowsOf({ test })).toBeNull();
    expect(rowsOf({ test, notes: "x" })).toBeNull();
  });
  it("calls things by what they are known by", () => {
    expect(named({ id: "F1", name: "Search", x: 1 }, "features", 0)).toEqual([
      ["id", "name"],
      "F1 Search",
    ]);
    expect(named({ number: 2 }, "batches", 0)).toEqual([["number"], "Batch 2"]);
    expect(named({ root_cause: "x" }, "errors", 2)).toEqual([[], "Error 3"]);
    expect(label("acceptance_criteria")).toBe("Acceptance criteria");
  });
  it("colours only words that judge", () => {
    expect(toneOf("status", "FAIL")).toBe("bad");
    expect(toneOf("verdict", "MET")).toBe("good");
    expect(toneOf("severity", "of its own")).toBe("neutral");
    expect(toneOf("notes", "FAIL")).toBeNull();
    expect(toneOf("status", "x".repeat(31))).toBeNull();
    expect(isShort({ a: "x", b: 1 })).toBe(true);
    expect(isShort({ a: "x".repeat(41) })).toBe(false);
  });
});

describe("what a stage said in a few words", () => {
  it("has the words of each stage", () => {
    expect(gist("prompt-optimizer", "Add it.")).toBe("7 characters");
    expect(gist("task-breakdown", { features: [{}, {}], risks: ["r"], blockers: [] })).toBe(
      "2 features, 1 risk",
    );
    expect(gist("plan-agent", { batches: [] })).toBe("0 batches");
    expect(gist("build-agent", [{}, {}])).toBe("2 builds");
    expect(gist("test-agent", { status: "FAIL", total: 12, passed: 11 })).toBe(
      "FAIL, 11 of 12 passed",
    );
    expect(
      gist("review-agent", { status: "PASS", criteria: [{ verdict: "MET" }, {}], issues: [] }),
    ).toBe("PASS, 1 of 2 criteria met, 0 issues");
    expect(gist("decide-agent", { decision: "RESTART" })).toBe("RESTART");
  });
  it("says nothing of what it does not know", () => {
    expect(gist("test-agent", null)).toBe("");
    expect(gist("somebody", { status: "PASS" })).toBe("");
    expect(gist("code-discovery", { overview: "none" })).toBe("");
  });
});
