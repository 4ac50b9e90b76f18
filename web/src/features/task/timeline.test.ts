import { expect, test } from "vitest";
import type { Event, Schemas } from "@/api/client";
import { callsIn, categoriesOf, type Narrow, rowsOf } from "./timeline";

let seq = 0;
function event(minute: number, type: string, part: Partial<Event> = {}): Event {
  seq += 1;
  return {
    id: seq,
    seq,
    task_id: "t",
    time: new Date(minute * 60_000).toISOString(),
    category: "agent",
    type,
    level: "info",
    summary: type,
    actor: { type: "system", name: "engine", run: null, via: null },
    data: {},
    ...part,
  };
}
const full: Narrow = { look: "full", categories: new Set(), failures: false };
const compact: Narrow = { ...full, look: "compact" };
const told = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => {
    if (row.kind === "gap") return `${row.seconds / 60} min ${row.who}`;
    return row.kind === "tools" ? callsIn(row.events) : row.event.type;
  });
const call = (minute: number, name: string, ok: boolean | null = true) =>
  event(minute, "agent.tool_use", { category: "tool", level: "debug", data: { name, ok } });

test("calls of tools are one line, and each on its own in the full look", () => {
  const rest = { category: "tool", level: "debug", data: { count: 40 } } as const;
  const events = [
    event(0, "agent.started"),
    call(1, "Bash"),
    call(2, "Edit", false),
    call(3, "Bash", null),
    event(3, "agent.tool_uses_left_out", rest),
    event(4, "agent.completed"),
    call(5, "Bash"),
  ];
  expect(told(rowsOf(events, [], compact, null))).toEqual([
    "agent.started",
    "43 tool calls: Bash 2, Edit 1 (1 failed)",
    "agent.completed",
    "1 tool call: Bash 1",
  ]);
  expect(rowsOf(events, [], full, null)).toHaveLength(events.length);
  expect(rowsOf(events, [], { ...compact, failures: true }, null)).toEqual([]);
});

test("idle hours are folded, and say whom the task waited for", () => {
  const events = [
    event(0, "task.created"),
    event(1, "agent.started", { data: { agent: "codex" } }),
    event(21, "agent.completed"),
    event(21, "prompt_created", { data: { prompt: "p" } }),
    event(141, "prompt_response", { data: { prompt: "p" } }),
    event(142, "agent.queued"),
    event(162, "agent.started"),
  ];
  expect(told(rowsOf(events, [], full, null))).toEqual([
    "task.created",
    "agent.started",
    "20 min codex at work",
    "agent.completed",
    "prompt_created",
    "120 min waiting for you",
    "prompt_response",
    "agent.queued",
    "20 min the agent waiting for its turn",
    "agent.started",
  ]);
});

test("the silence since the last event goes on until now", () => {
  const events = [event(0, "prompt_created", { data: { prompt: "p" } })];
  const rows = rowsOf(events, [], compact, 60 * 60_000);
  expect(rows.at(-1)).toMatchObject({ kind: "gap", open: true, who: "waiting for you" });
  expect(rowsOf(events, [], compact, null)).toHaveLength(1);
});

test("silences around what is not shown are one", () => {
  const events = [
    event(0, "prompt_created", { data: { prompt: "p" } }),
    event(60, "prompt_reminded", { category: "prompt" }),
    event(120, "prompt_response", { data: { prompt: "p" } }),
  ];
  expect(told(rowsOf(events, [], compact, null))).toEqual([
    "prompt_created",
    "120 min waiting for you",
    "prompt_response",
  ]);
});

test("failures are never left out as minor", () => {
  const events = [event(0, "agent.queued"), event(0, "agent.queued", { level: "error" })];
  expect(rowsOf(events, [], compact, null)).toHaveLength(1);
  expect(rowsOf(events, [], full, null)).toHaveLength(2);
  expect(rowsOf(events, [], { ...full, failures: true }, null)).toHaveLength(1);
});

test("a category narrows the log, and a move knows what its guards said", () => {
  const moved = event(3, "status.changed", {
    category: "transition",
    data: { source: "a", to: "b", trigger: "manual" },
  });
  const entry = { time: moved.time, from: "a", to: "b" } as Schemas["History"];
  const rows = rowsOf(
    [event(2, "note"), moved],
    [entry],
    { ...full, categories: new Set(["transition"]) },
    null,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ history: entry });
  expect(categoriesOf([event(0, "x"), moved])).toEqual([
    ["agent", 1],
    ["transition", 1],
  ]);
});
