import type { Schemas } from "@/api/client";

export type IssueImport = Schemas["IssueImport"];
type State = NonNullable<IssueImport["state"]>;

/** As somebody writes it down. */
export type Issues = { repository: string; numbers: string; labels: string; state: State };

export const NO_ISSUES: Issues = { repository: "", numbers: "", labels: "", state: "open" };
export const STATES: [State, string][] = [
  ["open", "Open ones"],
  ["closed", "Closed ones"],
  ["all", "All"],
];

/** What is asked for, or null where a number is none. */
export function asked(given: Issues): Omit<IssueImport, "project" | "dry_run"> | null {
  const repository = given.repository.trim() || null;
  const words = given.numbers.split(/[\s,]+/).filter(Boolean);
  const issues = words.map((word) =>
    /^#?\d{1,9}$/.test(word) ? Number(word.replace("#", "")) : 0,
  );
  if (issues.includes(0)) return null;
  if (issues.length > 0) return { repository, issues, labels: [], state: null };
  const labels = given.labels
    .split(",")
    .map((label) => label.trim())
    .filter(Boolean);
  return { repository, issues, labels, state: given.state };
}
