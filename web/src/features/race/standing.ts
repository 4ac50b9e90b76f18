import type { Run } from "@/api/client";
import type { Tone } from "@/kit/Chip";
import { clean } from "@/kit/text";
import type { Contender, Race } from "./queries";

export const nameOf = ({ contender }: Contender) =>
  contender.model
    ? `${clean(contender.agent)} (${clean(contender.model)})`
    : clean(contender.agent);

/** How a contender stands, in a word or two. */
export function standing(race: Race, one: Contender): { tone: Tone; words: string } {
  if (!one.run) return { tone: "neutral", words: "waits" };
  if (one.run.id === race.picked) return { tone: "good", words: "picked" };
  if (!one.run.ended_at)
    return one.run.started_at
      ? { tone: "accent", words: "at work" }
      : { tone: "neutral", words: "is about to start" };
  if (one.unfit) return { tone: "bad", words: WORDS[one.run.status] };
  return { tone: race.picked ? "neutral" : "you", words: race.picked ? "put aside" : "done" };
}

const WORDS: Record<Run["status"], string> = {
  queued: "waits",
  running: "at work",
  completed: "asks a question",
  failed: "failed",
  cancelled: "stopped",
  timeout: "took too long",
};

export function checksOf({ checks }: Contender): { tone: Tone; words: string } {
  if (checks.passed === null) return { tone: "neutral", words: "none were run" };
  const failed = clean(checks.failed.join(", "));
  if (checks.passed) return { tone: "good", words: failed ? `passed, but ${failed}` : "passed" };
  return { tone: "bad", words: failed ? `failed: ${failed}` : "failed" };
}

/** A pick answers the question, or takes the place of an earlier one while that is reviewed. */
export function mayPick(race: Race, one: Contender, reviewed: boolean): boolean {
  if (!one.run || one.unfit !== null || one.run.id === race.picked) return false;
  return race.prompt !== null || (race.picked !== null && reviewed);
}
