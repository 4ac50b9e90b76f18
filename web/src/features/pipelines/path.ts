/** Where a task, or a simulated one, has been. */
import type { Schemas } from "@/api/client";

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

export function pathOf(current: string, path: Schemas["TaskPath"], now: number): Lit {
  const lit: Lit = { statuses: new Map(), transitions: new Map(), current };
  for (const { visit: stay } of path.steps) {
    visit(lit, stay.status, stay.seconds ?? (now - Date.parse(stay.entered)) / 1000);
    if (stay.transition_id) fire(lit, stay.transition_id);
  }
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
