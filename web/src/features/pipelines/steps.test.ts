import type { Schemas } from "@/api/client";
import { shapeOf } from "./shape";
import { choices, sample } from "./steps";

const SHAPE = shapeOf({
  id: "mine",
  statuses: [
    { id: "open", category: "open" },
    { id: "work", category: "active" },
    { id: "asks", category: "waiting" },
    { id: "stuck", category: "waiting", prompt: { type: "choice" } },
    { id: "done", category: "final" },
  ],
  transitions: [
    { id: "start", from: "open", to: "work", trigger: "manual" },
    { from: "work", to: "asks", trigger: { type: "agent_outcome", outcome: "needs_info" } },
    { from: "work", to: "done", trigger: { type: "agent_outcome", outcome: "pr_ready" } },
    { from: "work", to: "stuck", trigger: { type: "agent_error" } },
    { from: "asks", to: "$origin", trigger: { type: "prompt_response" } },
    { id: "retry", from: "stuck", to: "work", trigger: "manual", label: "Again" },
    { id: "cancel", from: "*", to: "done", trigger: "manual" },
  ],
});
const QUESTIONS = {
  $defs: {
    Question: {
      type: "object",
      required: ["id", "question"],
      properties: { id: { type: "string" }, question: { type: "string" }, more: {} },
    },
  },
  type: "object",
  required: ["questions"],
  properties: { questions: { type: "array", minItems: 2, items: { $ref: "#/$defs/Question" } } },
};
const outcome = (name: string, more: Partial<Schemas["OutcomePart"]>) => ({
  ...{ name, meaning: "", payload: null, payload_required: false, prompt: null, answer: null },
  ...more,
});
const PARTS = {
  guards: [],
  hooks: [],
  outcomes: [
    outcome("needs_info", { payload: QUESTIONS, payload_required: true }),
    outcome("planned", {
      answer: {
        type: "object",
        required: ["version", "announce"],
        properties: {
          version: { type: "string" },
          announce: { type: "boolean" },
          notes: { type: "string" },
        },
      },
    }),
  ],
  built_in: [],
} satisfies Schemas["Parts"];

const standing = (status: string, asks: Schemas["Asked"] | null = null) =>
  ({
    status,
    decisions: [{ from: "x", to: status, result: "done", asks }],
  }) as unknown as Schemas["Simulation"];

it("offers what the first status takes, and what the one after it takes", () => {
  expect(choices(SHAPE, undefined, [], PARTS).map((one) => one.step)).toEqual([
    { move: "work" },
    { move: "done" },
  ]);
  const steps = choices(SHAPE, standing("work"), ["start"], PARTS).map((one) => one.step);
  expect(steps[0]).toMatchObject({ outcome: { name: "needs_info" } });
  expect(steps.slice(1)).toEqual([{ outcome: "pr_ready" }, { error: "crash" }, { move: "done" }]);
});

it("answers each question that the agent asked", () => {
  const payload = sample(QUESTIONS);
  expect(payload).toEqual({
    questions: [
      { id: "a", question: "Some question" },
      { id: "b", question: "Some question" },
    ],
  });
  const asks = { type: "info_request", summary: "", choices: [] } as Schemas["Asked"];
  const script = ["start", { outcome: { name: "needs_info", payload } }];
  const [first] = choices(SHAPE, standing("asks", asks), script, PARTS);
  expect(first?.step).toEqual({
    answer: {
      answers: [
        { question_id: "a", text: "Yes." },
        { question_id: "b", text: "Yes." },
      ],
    },
  });
});

it("fills in the form that an outcome of the project asks with", () => {
  const asks = { type: "info_request", summary: "", choices: [] } as Schemas["Asked"];
  const [first] = choices(SHAPE, standing("asks", asks), ["start", { outcome: "planned" }], PARTS);
  expect(first?.step).toEqual({ answer: { value: { version: "Some version", announce: true } } });
});

it("offers the choices of a question instead of the moves that they are", () => {
  const asks = { type: "choice", summary: "", choices: ["retry", "stay"] } as Schemas["Asked"];
  expect(choices(SHAPE, standing("stuck", asks), ["start"], PARTS)).toEqual([
    { label: "Choose: Again", step: { choose: "retry" } },
    { label: "Choose: stay", step: { choose: "stay" } },
    { label: "By hand: to done", step: { move: "done" } },
  ]);
});

it("begins anew after `new`", () => {
  const steps = choices(SHAPE, standing("done"), ["start", "new"], PARTS).map((one) => one.step);
  expect(steps).toContainEqual({ move: "work" });
});
