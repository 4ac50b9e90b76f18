/** What can be done to a task now, from its view. */
import type { Run, Schemas, TaskView } from "@/api/client";

export type Move = Schemas["Move"];
type Status = Schemas["Status"];

/** What a move does besides: it ends the task, or an agent is stopped for it. */
export interface Choice {
  move: Move;
  title: string;
  ends: boolean;
  stops: boolean;
  possible: boolean;
  /** It is refused now, but starting the task makes it when the dependencies are finished. */
  waits: boolean;
  note?: string;
}

/** Only moves of which it is known what they do: one that ends the task must not pass for another. */
export function choices(view: TaskView, statuses: Status[]): Choice[] {
  return view.moves.flatMap((move) => {
    const target = statuses.find((status) => status.id === move.to);
    if (!target) return [];
    // One that only the agent stands in the way of can be made once it is stopped.
    const byStopping = !move.allowed && view.run !== null && move.reasons.length === 1;
    const reasons = move.reasons.join(" ");
    return {
      move,
      title: target.title,
      ends: target.category === "final",
      stops: view.run !== null,
      possible: move.allowed || byStopping,
      waits: move.when_ready && view.task.starts_at === null,
      note: byStopping ? `${reasons} Choosing it stops the agent first.` : reasons || undefined,
    };
  });
}

/** The one thing to press when the task waits for a move by hand. */
export function onward(view: TaskView, all: Choice[]): Choice | null {
  if (view.prompts.length > 0 || view.run) return null;
  const ways = all.filter((choice) => !choice.ends);
  return ways.length === 1 ? (ways[0] as Choice) : null;
}

export type Again = { kind: "now"; run: string } | { kind: "anew" } | null;

/** How the agent can be tried again: a retry that waits, or a run that did not end well. */
export function again(view: TaskView): Again {
  if (view.run)
    return view.run.status === "queued" && view.next_mover.kind === "timer"
      ? { kind: "now", run: view.run.id }
      : null;
  const last = view.runs.at(-1);
  if (!last || view.status.category === "final") return null;
  return last.status === "completed" ? null : { kind: "anew" };
}

export interface Cost {
  usd: number | null;
  unknown: number;
}

export function costOf(runs: Run[]): Cost {
  const ended = runs.filter((run) => run.ended_at !== null);
  const known = ended.flatMap((run) => (run.cost_usd === null ? [] : [run.cost_usd]));
  return {
    usd: known.length > 0 ? known.reduce((sum, usd) => sum + usd, 0) : null,
    unknown: ended.length - known.length,
  };
}
