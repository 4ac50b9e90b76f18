import { describe, expect, it } from "vitest";
import {
  budgetAnswer,
  budgetSteps,
  choiceAnswer,
  documentAnswer,
  moved,
  OWN,
  optionsAnswer,
  paragraphsOf,
  permissionAnswer,
  questionsAnswer,
  reviewAnswer,
  shape,
  splitAnswer,
  suggestion,
} from "./answers";
import { type Asked, asked, type Question } from "./payloads";
import { said, unsent } from "./said";

const colour: Question = {
  id: "q1",
  question: "Which colour?",
  input_type: "choice",
  options: [{ label: "Red", recommended: true }, { label: "Blue" }],
};
const why: Question = { id: "q2", question: "Why?", suggested_answer: " Because. " };
const sure: Question = { id: "q3", question: "Sure?", input_type: "boolean" };

describe("questions", () => {
  it("are sent when all are answered, in their order", () => {
    const draft = { q2: { text: " So. " }, q1: { option: "Blue" } };
    expect(questionsAnswer([colour, why], draft)).toEqual({
      answers: [
        { question_id: "q1", option: "Blue", text: null },
        { question_id: "q2", option: null, text: "So." },
      ],
    });
    expect(questionsAnswer([colour, why, sure], draft)).toBeNull();
    expect(questionsAnswer([why], { q2: { text: "  " } })).toBeNull();
  });
  it("keep the words beside an option", () => {
    expect(questionsAnswer([colour], { q1: { option: "Red", text: "dark" } })).toEqual({
      answers: [{ question_id: "q1", option: "Red", text: "dark" }],
    });
  });
  it("know their shape and what the agent would take", () => {
    expect([colour, why, sure].map(shape)).toEqual(["choice", "text", "boolean"]);
    expect(suggestion(colour)).toEqual({ option: "Red" });
    expect(suggestion(why)).toEqual({ text: "Because." });
    expect(suggestion({ ...sure, suggested_answer: "True" })).toEqual({ text: "yes" });
    expect(suggestion({ ...sure, suggested_answer: "perhaps" })).toBeNull();
    expect(suggestion(sure)).toBeNull();
  });
});

describe("options", () => {
  it("take one of them, or an approach in own words", () => {
    const blank = { option: "", text: "", instructions: "" };
    expect(optionsAnswer(blank)).toBeNull();
    expect(optionsAnswer({ option: "a", text: "left over", instructions: " Small. " })).toEqual({
      option_id: "a",
      text: null,
      instructions: "Small.",
    });
    expect(optionsAnswer({ ...blank, option: OWN })).toBeNull();
    expect(optionsAnswer({ ...blank, option: OWN, text: "Mine" })).toEqual({
      option_id: null,
      text: "Mine",
      instructions: null,
    });
  });
});

describe("reviews", () => {
  it("need words to send work back, unless an agent has said them", () => {
    expect(reviewAnswer("approved", "", false)).toEqual({ decision: "approved", summary: null });
    expect(reviewAnswer("changes_requested", " ", false)).toBeNull();
    expect(reviewAnswer("changes_requested", "", true)).toMatchObject({ summary: null });
    expect(reviewAnswer("changes_requested", "No.", false)).toMatchObject({ summary: "No." });
  });
});

describe("documents", () => {
  const text = "# Plan\n\nFirst\nsecond\n\n```\na\n\nb\n```\n\n- one\n\n  more of it\n- two\n";
  it("fall into paragraphs that keep code and list items whole", () => {
    expect(paragraphsOf(text)).toEqual([
      { line: 1, text: "# Plan" },
      { line: 3, text: "First\nsecond" },
      { line: 6, text: "```\na\n\nb\n```" },
      { line: 12, text: "- one\n\n  more of it\n- two" },
    ]);
    expect(paragraphsOf("~~~\nnever\n\nclosed")).toHaveLength(1);
    expect(paragraphsOf("\n\n")).toEqual([]);
  });
  it("carry comments with the line they are about", () => {
    const draft = { summary: "", comments: { 3: "Which first?", 6: " " } };
    expect(documentAnswer("changes_requested", draft, paragraphsOf(text), "art")).toEqual({
      decision: "changes_requested",
      summary: null,
      artifact_id: "art",
      comments: [{ line: 3, severity: "must_fix", comment: "Which first?" }],
    });
    const nothing = { summary: "", comments: {} };
    expect(documentAnswer("changes_requested", nothing, [])).toBeNull();
    expect(documentAnswer("approved", nothing, [])).toMatchObject({ decision: "approved" });
  });
});

describe("splits", () => {
  const phase = { name: " A ", description: "", complexity: "low" as const };
  it("are approved as proposed, or as edited, and rejected for a reason", () => {
    expect(splitAnswer("approved", { phases: null, reason: "" })).toEqual({ decision: "approved" });
    expect(splitAnswer("approved", { phases: [phase], reason: "" })).toEqual({
      decision: "approved",
      phases: [{ ...phase, name: "A" }],
    });
    expect(splitAnswer("approved", { phases: [{ ...phase, name: " " }], reason: "" })).toBeNull();
    expect(splitAnswer("approved", { phases: [], reason: "" })).toBeNull();
    expect(splitAnswer("rejected", { phases: null, reason: " " })).toBeNull();
    expect(splitAnswer("rejected", { phases: [phase], reason: "Small." })).toEqual({
      decision: "rejected",
      reason: "Small.",
    });
  });
  it("are reordered", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 5, 0)).toEqual(["a", "b"]);
  });
});

it("choices and permissions say what was chosen", () => {
  expect(choiceAnswer("", "x")).toBeNull();
  expect(choiceAnswer("rerun", " ")).toEqual({ choice_id: "rerun", text: null });
  expect(permissionAnswer(true, "run")).toEqual({ allow: true, scope: "run" });
  expect(permissionAnswer(false)).toEqual({ allow: false, scope: "once" });
});

it("a budget is granted more than it is over, never by nothing", () => {
  expect(["", " ", "0", "-1", "x"].map(budgetAnswer)).toEqual([null, null, null, null, null]);
  expect(budgetAnswer("2.5")).toEqual({ decision: "grant", usd: 2.5 });
  const budget = {
    scope: "task",
    name: "",
    limit_usd: 3,
    granted_usd: 1,
    spent_usd: 4,
    unknown: 0,
  };
  expect(budgetSteps(budget)).toEqual([2, 3, 5]);
  expect(budgetSteps({ ...budget, limit_usd: 0, granted_usd: 0 })).toEqual([]);
});

describe("what was said", () => {
  const kinds: [string, Record<string, unknown>, Record<string, unknown>, string][] = [
    [
      "info_request",
      { questions: [colour] },
      { answers: [{ question_id: "q1", option: "Red", text: "dark" }] },
      "Red — dark",
    ],
    [
      "info_request",
      { summary: "How?", options: [{ id: "a", label: "A file" }] },
      { option_id: "a" },
      "A file",
    ],
    ["info_request", { schema: { type: "object" } }, { value: { a: true } }, "Yes"],
    ["review", {}, { decision: "changes_requested" }, "Sent back for changes"],
    [
      "review",
      { review: { decision: "changes_requested" } },
      { decision: "approved" },
      "Approved anyway",
    ],
    ["document_review", { document: "x" }, { decision: "approved" }, "Approved"],
    ["split_proposal", {}, { decision: "rejected", reason: "No" }, "Rejected the split"],
    ["choice", { choices: [{ id: "x", label: "Again" }] }, { choice_id: "x" }, "Again"],
    ["permission", {}, { allow: true, scope: "run" }, "Allowed for the whole run"],
    ["budget", {}, { decision: "grant", usd: 2 }, "Granted $2.00 more"],
    ["budget", {}, { decision: "stop" }, "Left it stopped"],
    ["permission", {}, { allow: false, scope: "once" }, "Not allowed"],
  ];
  it.each(kinds)("is told of %s", (type, payload, answer, words) => {
    expect(said(asked({ type, payload }), answer)[0]?.text).toBe(words);
  });
  it("is told of drafts, too, as far as they go", () => {
    const questions: Asked = { kind: "questions", questions: [colour, why] };
    expect(unsent(questions, { q2: { text: "So" } })).toEqual([{ label: "Why?", text: "So" }]);
    expect(
      unsent(asked({ type: "info_request", payload: {} }), { option: OWN, text: "Mine" }),
    ).toEqual([{ text: "Mine" }]);
  });
  it("does not fail at a kind that is not known", () => {
    expect(asked({ type: "telepathy", payload: {} })).toEqual({ kind: "unknown" });
  });
});
