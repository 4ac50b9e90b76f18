import type { Run } from "@/api/client";

const between = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

/** How long a run waited for its turn and worked; `live` is the age of what goes on now. */
export function seconds(run: Run, live: number | null) {
  const begun = run.started_at;
  return {
    waited: begun
      ? between(run.created_at, begun)
      : run.ended_at
        ? between(run.created_at, run.ended_at)
        : live,
    worked: begun ? (run.ended_at ? between(begun, run.ended_at) : live) : null,
  };
}

/** Sums of what is known; null where nothing is. */
export function tokens(runs: Run[]) {
  const sum = (pick: (usage: NonNullable<Run["usage"]>) => number | null) => {
    const known = runs.flatMap((run) => {
      const value = run.usage && pick(run.usage);
      return value === null ? [] : [value];
    });
    return known.length > 0 ? known.reduce((total, value) => total + value, 0) : null;
  };
  return {
    input: sum((usage) => usage.input_tokens),
    output: sum((usage) => usage.output_tokens),
    read: sum((usage) => usage.cache_read_tokens),
    written: sum((usage) => usage.cache_write_tokens),
  };
}
