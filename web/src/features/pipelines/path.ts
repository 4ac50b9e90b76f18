/** Where a task, or a simulated one, has been. */
import type { Schemas, Task } from "@/api/client";

type History = Schemas["History"];

export interface Visit {
  times: number;
  /** Null where nobody measured: a simulation takes no time. */
  seconds: number | null;
}
export interface Lit {
  statuses: Map<string, Visit>;
  /** How often each transition fired, by its id. */
  transitions: Map<string, number>;
  current: string;
}

const MOVES: ReadonlySet<string> = new Set(["done", "forced", "rolled_back"]);

/** Statuses under the names that they have in the version the task is on now. */
export function asNamedNow(entries: History[]): History[] {
  let names: Record<string, string> = {};
  const told: History[] = [];
  for (const entry of [...entries].reverse()) {
    const to = names[entry.to] ?? entry.to;
    if (entry.trigger === "migration") {
      const renamed = (entry.payload?.statuses ?? {}) as Record<string, string>;
      const through = Object.entries(renamed).map(([old, now]) => [old, names[now] ?? now]);
      names = { ...names, ...Object.fromEntries(through) };
    }
    told.push({ ...entry, from: names[entry.from] ?? entry.from, to });
  }
  return told.reverse();
}

export function pathOf(
  task: Pick<Task, "status" | "created_at">,
  history: History[],
  now: number,
): Lit {
  const lit: Lit = { statuses: new Map(), transitions: new Map(), current: task.status };
  const moves = asNamedNow(history).filter(
    (entry) => MOVES.has(entry.result) && entry.from !== entry.to,
  );
  let since = Date.parse(task.created_at);
  for (const entry of moves) {
    const at = Date.parse(entry.time);
    visit(lit, entry.from, (at - since) / 1000);
    since = at;
    if (entry.transition_id && entry.result !== "rolled_back") fire(lit, entry.transition_id);
  }
  visit(lit, task.status, (now - since) / 1000);
  return lit;
}

export function pathOfDecisions(start: string, decisions: Schemas["Decided"][]): Lit {
  const lit: Lit = { statuses: new Map(), transitions: new Map(), current: start };
  visit(lit, start, null);
  for (const decided of decisions) {
    if (!MOVES.has(decided.result)) continue;
    // Another task began anew.
    if (decided.from !== lit.current) visit(lit, decided.from, null);
    lit.current = decided.to;
    if (decided.from === decided.to) continue;
    visit(lit, decided.to, null);
    if (decided.transition && decided.result !== "rolled_back") fire(lit, decided.transition);
  }
  return lit;
}

function visit(lit: Lit, status: string, seconds: number | null) {
  const before = lit.statuses.get(status) ?? { times: 0, seconds: seconds === null ? null : 0 };
  lit.statuses.set(status, {
    times: before.times + 1,
    seconds:
      before.seconds === null || seconds === null ? null : before.seconds + Math.max(0, seconds),
  });
}

function fire(lit: Lit, transition: string) {
  lit.transitions.set(transition, (lit.transitions.get(transition) ?? 0) + 1);
}

/** How often the task came back to somewhere it had been. */
export function loops(lit: Lit): number {
  let again = 0;
  for (const { times } of lit.statuses.values()) again += times - 1;
  return again;
}
