/** The log of a task as it is read: idle hours folded, what matters little left out. */
import type { Event, Schemas } from "@/api/client";
import { plural } from "@/kit/text";

type History = Schemas["History"];
export type Look = "compact" | "full" | "raw";

export type TimelineRow =
  | { kind: "event"; key: string; event: Event; history: History | null }
  | { kind: "tools"; key: string; events: Event[] }
  | { kind: "gap"; key: string; seconds: number; who: string; open: boolean };

/** What of it is shown; no category is all of them. */
export interface Narrow {
  look: Look;
  categories: Set<string>;
  failures: boolean;
}

/** A shorter silence is no story. */
export const IDLE_S = 300;

const MOST_TOOLS = 5;
const MINOR = new Set([
  "agent.queued",
  "git.pushed",
  "workspace.set_up",
  "workspace.ignored",
  "workspace.removed",
  "prompt_reminded",
]);

export const isFailure = (event: Event) => event.level === "error";
const isMinor = (event: Event) =>
  event.level === "debug" || (event.level === "info" && MINOR.has(event.type));

/** Whom the task waits for, told from what happened so far. */
class Waiting {
  private prompts = new Set<unknown>();
  private running: string | null = null;
  private queued = false;

  take({ type, data }: Event) {
    switch (type) {
      case "prompt_created":
        this.prompts.add(data.prompt);
        break;
      case "prompt_response":
      case "prompt_closed":
      case "review_submitted":
      case "split_approved":
      case "split_rejected":
        this.prompts.delete(data.prompt);
        break;
      case "agent.queued":
      case "agent.retry_scheduled":
        this.queued = true;
        break;
      case "agent.started":
        this.running = typeof data.agent === "string" ? data.agent : "the agent";
        this.queued = false;
        break;
      case "agent.completed":
      case "agent.failed":
      case "agent.cancelled":
        this.running = null;
        break;
    }
  }
  get who(): string {
    if (this.prompts.size > 0) return "waiting for you";
    if (this.running) return `${this.running} at work`;
    if (this.queued) return "the agent waiting for its turn";
    return "nothing under way";
  }
}

/** Rows in the order of time. Of a task that is not finished, the last gap goes on until now. */
export function rowsOf(
  events: Event[],
  history: History[],
  { look, categories, failures }: Narrow,
  now: number | null,
): TimelineRow[] {
  const rows: TimelineRow[] = [];
  const waiting = new Waiting();
  const moves = new Map(history.map((entry) => [`${entry.time} ${entry.to}`, entry]));
  let last: Event | null = null;
  for (const event of events) {
    const gap = last && (Date.parse(event.time) - Date.parse(last.time)) / 1000;
    if (last && gap !== null && gap >= IDLE_S)
      rows.push({
        kind: "gap",
        key: `gap-${event.seq}`,
        seconds: gap,
        who: waiting.who,
        open: false,
      });
    waiting.take(event);
    last = event;
    if (failures && !isFailure(event)) continue;
    if (categories.size > 0 && !categories.has(event.category)) continue;
    if (look === "compact" && event.category === "tool") {
      const before = rows.at(-1);
      if (before?.kind === "tools") before.events.push(event);
      else rows.push({ kind: "tools", key: `${event.seq}`, events: [event] });
      continue;
    }
    if (look === "compact" && isMinor(event)) continue;
    rows.push({ kind: "event", key: `${event.seq}`, event, history: moveOf(event, moves) });
  }
  const idle = last && now !== null ? (now - Date.parse(last.time)) / 1000 : 0;
  if (idle >= IDLE_S)
    rows.push({ kind: "gap", key: "gap-now", seconds: idle, who: waiting.who, open: true });
  return joined(rows);
}

/** Silences beside each other, where what lay between is not shown, are one. */
function joined(rows: TimelineRow[]): TimelineRow[] {
  const found: TimelineRow[] = [];
  for (const row of rows) {
    const before = found.at(-1);
    if (row.kind === "gap" && before?.kind === "gap" && before.who === row.who)
      found[found.length - 1] = { ...row, seconds: before.seconds + row.seconds };
    else found.push(row);
  }
  return found;
}

/** What guards and hooks said to a move: it is on record at the same moment. */
function moveOf(event: Event, moves: Map<string, History>): History | null {
  if (event.category !== "transition") return null;
  const to = event.data.to ?? event.data.status;
  return moves.get(`${event.time} ${to}`) ?? null;
}

/** Calls that follow each other, in a line: how often which tool was called. */
export function callsIn(events: Event[]): string {
  const counts = new Map<string, number>();
  let calls = 0;
  let failed = 0;
  for (const { data } of events) {
    calls += typeof data.count === "number" ? data.count : 1;
    if (data.ok === false) failed += 1;
    if (typeof data.name === "string") counts.set(data.name, (counts.get(data.name) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a);
  const named = most.slice(0, MOST_TOOLS).map(([name, times]) => `${name} ${times}`);
  if (most.length > MOST_TOOLS) named.push("…");
  const which = named.length > 0 ? `: ${named.join(", ")}` : "";
  return `${plural(calls, "tool call")}${which}${failed > 0 ? ` (${failed} failed)` : ""}`;
}

export function categoriesOf(events: Event[]): [category: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { category } of events) counts.set(category, (counts.get(category) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}
