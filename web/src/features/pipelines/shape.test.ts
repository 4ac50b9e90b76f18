import { fromElk, joined, returns, toElk } from "./layout";
import { cause, findingsAt, leaving, placed, shapeOf, worst } from "./shape";

const DOCUMENT = {
  id: "mine",
  name: "Mine",
  statuses: [
    { id: "open", category: "backlog" },
    { id: "at_work", label: "At work", category: "active", position: 1 },
    { id: "asks", category: "waiting", prompt: { type: "info_request" } },
    { id: "done", category: "done" },
  ],
  transitions: [
    { from: "open", to: "at_work", trigger: "manual", label: "Start" },
    {
      from: "at_work",
      to: "asks",
      trigger: { type: "agent_outcome", outcome: "needs_info" },
    },
    { from: "at_work", to: "done", trigger: "agent_outcome", outcomeValue: "pr_ready" },
    { from: "at_work", to: "done", trigger: "auto", guards: [{ type: "has_pr", not: true }] },
    { id: "back", from: "asks", to: "$origin", trigger: { type: "prompt_response" } },
    { id: "cancel", from: "*", to: "done", trigger: { type: "manual" } },
    { id: "lost", from: "at_work", to: "nowhere", trigger: { type: "auto" } },
  ],
};

const finding = (position: string, severity: "error" | "warning" = "error") => ({
  severity,
  position,
  code: "x",
  message: "m",
  fix: "f",
});

describe("a document becomes a shape", () => {
  const shape = shapeOf(DOCUMENT);

  it("in both notations, with older names and missing ids", () => {
    expect(shape.statuses.map((one) => [one.title, one.category])).toEqual([
      ["open", "open"],
      ["At work", "active"],
      ["asks", "waiting"],
      ["done", "final"],
    ]);
    expect(shape.transitions[2]).toMatchObject({
      id: "at_work-pr_ready-done-2",
      trigger: { type: "agent_outcome", outcome: "pr_ready" },
    });
    expect(shape.transitions.map(cause)).toEqual([
      "Start",
      "needs info",
      "pr ready",
      "at once",
      "answered",
      "by hand",
      "at once",
    ]);
  });

  it("whatever it is", () => {
    for (const junk of [null, [], 7, "x", { statuses: 3, transitions: [null, 1] }])
      expect(() => toElk(shapeOf(junk))).not.toThrow();
    expect(shapeOf({ statuses: [{ id: "a", category: "purple" }] }).statuses[0]?.category).toBe(
      "open",
    );
  });

  it("whose ways out are its own and those of any status", () => {
    expect(leaving(shape, "asks").map(({ one }) => one.id)).toEqual(["back", "cancel"]);
    expect(leaving(shape, "done")).toEqual([]);
  });
});

describe("a shape becomes a drawing", () => {
  const shape = shapeOf(DOCUMENT);

  it("with one line for all transitions between two ends", () => {
    expect(joined(shape).map((line) => [line.id, line.transitions])).toEqual([
      ["open→at_work", [0]],
      ["at_work→asks", [1]],
      ["at_work→done", [2, 3]],
      ["*→done", [5]],
    ]);
    expect(returns(shape)).toEqual(new Map([["asks", [4]]]));
  });

  it("with a box for each status, once, and for any status", () => {
    const twice = { ...shape, statuses: [...shape.statuses, ...shape.statuses] };
    expect(toElk(twice).children?.map((one) => one.id)).toEqual([
      "open",
      "at_work",
      "asks",
      "done",
      "*",
    ]);
  });

  it("from what ELK says", () => {
    const laid = {
      id: "root",
      children: [{ id: "open", x: 1, y: 2, width: 3, height: 4 }],
      edges: [
        {
          id: "at_work→done",
          sources: [],
          targets: [],
          sections: [{ id: "s", startPoint: { x: 0, y: 0 }, endPoint: { x: 0, y: 9 } }],
          labels: [{ x: 5, y: 6, width: 7, height: 8 }],
        },
        { id: "gone→done", sources: [], targets: [] },
      ],
    };
    const drawing = fromElk(shape, laid);
    expect(drawing.boxes).toEqual([{ id: "open", x: 1, y: 2, width: 3, height: 4 }]);
    expect(drawing.lines).toMatchObject([
      { from: "at_work", to: "done", transitions: [2, 3], points: [{ y: 0 }, { y: 9 }] },
    ]);
  });
});

describe("findings", () => {
  it("stand at the status or transition that they name", () => {
    const by = placed([
      finding("statuses.1"),
      finding("transitions.2.guards.0", "warning"),
      finding("transitions"),
      finding("document"),
    ]);
    expect(findingsAt(by, { kind: "status", index: 1 })).toHaveLength(1);
    expect(worst(findingsAt(by, { kind: "transition", index: 2 }))).toBe("warning");
    expect(findingsAt(by, { kind: "transition", index: 0 })).toEqual([]);
    expect(by.get("")).toHaveLength(2);
  });
});
