/** A review while it is written: comments are gathered, and sent once. */
import type { Schemas } from "@/api/client";

export type ChangedFile = Schemas["ChangedFile"];
export type Said = Schemas["ReviewComment"];

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
