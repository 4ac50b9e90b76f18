import {
  addStatus,
  addTransition,
  removeStatus,
  removeTransition,
  setStatus,
  setTransition,
} from "./edits";

const DOCUMENT = {
  id: "mine",
  "x-kept": true,
  statuses: [
    { id: "open", category: "open", position: 0 },
    { id: "work", category: "active", position: 4, color: "#fff" },
  ],
  transitions: [
    { id: "start", from: "open", to: "work", trigger: "manual" },
    {
      id: "again",
      from: "work",
      to: "work",
      trigger: "agent_outcome",
      outcomeValue: "pr_ready",
      guards: [{ type: "max_iterations", params: { statusId: "work", max: 2 } }],
    },
  ],
};

it("a status that is called otherwise is followed by transitions and guards", () => {
  const before = structuredClone(DOCUMENT);
  const after = setStatus(DOCUMENT, 1, { id: "doing" });
  expect(after.transitions).toMatchObject([
    { from: "open", to: "doing" },
    { from: "doing", to: "doing", guards: [{ params: { statusId: "doing", max: 2 } }] },
  ]);
  expect(after["x-kept"]).toBe(true);
  expect(DOCUMENT).toEqual(before);
});

it("what is set to nothing is taken out, and zero is something", () => {
  const after = setStatus(DOCUMENT, 1, { color: "", label: "", position: 0 });
  expect((after.statuses as unknown[])[1]).toEqual({ id: "work", category: "active", position: 0 });
  const guards = setTransition(DOCUMENT, 1, { guards: [] });
  expect((guards.transitions as object[])[1]).not.toHaveProperty("guards");
});

it("a new status has an id and a position of its own", () => {
  const twice = addStatus(addStatus(DOCUMENT));
  expect(twice.statuses).toMatchObject([
    {},
    {},
    { id: "new_status", position: 5 },
    { id: "new_status_2", position: 6 },
  ]);
  expect(addStatus({}).statuses).toMatchObject([{ id: "new_status", position: 0 }]);
});

it("a status is removed with its transitions, a transition alone", () => {
  expect(removeStatus(DOCUMENT, 1)).toMatchObject({ statuses: [{ id: "open" }], transitions: [] });
  expect(removeTransition(DOCUMENT, 0).transitions).toMatchObject([{ id: "again" }]);
});

it("a new transition has an id of its own", () => {
  const twice = addTransition(addTransition(DOCUMENT, "work", "$origin"), "work", "$origin");
  expect((twice.transitions as { id: string }[]).map((one) => one.id)).toEqual([
    "start",
    "again",
    "work_to_origin",
    "work_to_origin_2",
  ]);
});

it("a new trigger leaves nothing of the older notation", () => {
  const after = setTransition(DOCUMENT, 1, { trigger: { type: "auto" } });
  expect((after.transitions as object[])[1]).not.toHaveProperty("outcomeValue");
});

it("what is not there is not changed", () => {
  expect(setStatus(DOCUMENT, 9, { id: "x" })).toBe(DOCUMENT);
  expect(setTransition(DOCUMENT, 9, { id: "x" })).toBe(DOCUMENT);
});
