import type { Run } from "@/api/client";
import type { Tone } from "@/kit/Chip";

export function runName(run: Run, index: number): string {
  return `Run ${index + 1}: ${run.mode}, ${run.agent ?? "default agent"}, ${runEnd(run)}`;
}

/** How a run ended, or that it has not, in a word or two. */
export function runEnd(run: Run): string {
  return run.outcome ?? run.error?.error_class ?? run.status;
}

export const RUN_TONES: Record<Run["status"], Tone> = {
  queued: "neutral",
  running: "accent",
  completed: "good",
  failed: "bad",
  cancelled: "warn",
  timeout: "bad",
};
