/** A review while it is written: comments are gathered, and sent once. */
import type { Schemas } from "@/api/client";
import type { Tone } from "@/kit/Chip";

export type ChangedFile = Schemas["ChangedFile"];
export type Thread = Schemas["Comment"];
export type Round = Schemas["ReviewRound"];

export interface Comment {
  id: string;
  file: string;
  /** None: about the whole file. */
  line: number | null;
  severity: Severity;
  text: string;
}
export const SEVERITIES = ["must_fix", "should_fix", "suggestion"] as const;
export type Severity = (typeof SEVERITIES)[number];
export const SEVERITY_WORDS: Record<string, string> = {
  must_fix: "Must fix",
  should_fix: "Should fix",
  suggestion: "Suggestion",
};

export const SEVERITY_TONES: Record<string, Tone> = {
  must_fix: "bad",
  should_fix: "warn",
  suggestion: "neutral",
};

export function placeOf({ file, line }: Pick<Thread, "file" | "line">): string {
  return file ? (line ? `${file}:${line}` : file) : "";
}

/** Where it was made, if its code is elsewhere now. */
export function wasAt(said: Thread): string {
  const was = placeOf({ file: said.original_file, line: said.original_line });
  if (was === placeOf(said)) return "";
  return said.file === said.original_file ? `line ${said.original_line}` : was;
}

/** The number of the review that it is part of. */
export function roundOf(said: Thread, rounds: Round[]): number | undefined {
  return rounds.find(
    ({ prompt_id, run_id }) => said.review !== null && [prompt_id, run_id].includes(said.review),
  )?.number;
}

/** Whether it belongs to a line of the file as it is now. */
export function onLine(said: Thread): boolean {
  return said.line !== null && !said.outdated;
}

/** Whether a line of the new file is one of those that a patch shows. */
export function isShown(patch: string, line: number): boolean {
  for (const [, start, lines] of patch.matchAll(/^@@ -[\d,]+ \+(\d+)(?:,(\d+))? @@/gm)) {
    const first = Number(start);
    if (first <= line && line < first + Number(lines ?? 1)) return true;
  }
  return false;
}

export interface Review {
  comments: Comment[];
  summary: string;
}
export const BLANK: Review = { comments: [], summary: "" };

export type Verdict = "approved" | "changes_requested";

/** What is sent; empty comments are left behind. */
export function answer(review: Review, decision: Verdict) {
  const comments = review.comments
    .filter((one) => one.text.trim())
    .map(({ file, line, severity, text }) => ({
      file,
      ...(line === null ? {} : { line }),
      severity,
      comment: text.trim(),
    }));
  return { decision, summary: review.summary.trim(), comments };
}

/** Why it cannot be sent yet, or nothing. */
export function missing(review: Review, decision: Verdict): string | null {
  if (decision === "approved") return null;
  const said = review.summary.trim() || review.comments.some((one) => one.text.trim());
  return said ? null : "Say what is to be changed: in a comment, or in a few words below.";
}

export const CHUNK = 40;
/** Longer files are folded until they are asked for. */
const LONG = 1500;

export function foldedAtFirst(file: ChangedFile): boolean {
  return file.generated || file.binary || (file.additions ?? 0) + (file.deletions ?? 0) > LONG;
}

export function sums(files: ChangedFile[]): { additions: number; deletions: number } {
  let additions = 0;
  let deletions = 0;
  for (const file of files) {
    additions += file.additions ?? 0;
    deletions += file.deletions ?? 0;
  }
  return { additions, deletions };
}
