/** What agents gave back, as people read it: which part is a word, a list, a table or a thing of its
 * own. It goes by the shape alone, so that every stage is shown, also those of other pipelines. */
import type { Tone } from "@/kit/Chip";

export type Plain = string | number | boolean;
export type Fields = Record<string, unknown>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether there is nothing to show; 0 and false are something. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.every(isEmpty);
  return isFields(value) && Object.values(value).every(isEmpty);
}

export const full = (fields: Fields): [string, unknown][] =>
  Object.entries(fields).filter(([, value]) => !isEmpty(value));

/** `acceptance_criteria` → `Acceptance criteria`. */
export function label(key: string): string {
  const words = key.replace(/_/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const CODE = new Set([
  ...["file", "path", "location", "command", "tree", "stack", "endpoint", "files", "target"],
  ...["files_created", "files_modified", "files_targeted", "modify", "create", "existing", "new"],
  ...["test", "failing", "covered_by", "lint", "api_patterns", "function"],
]);

/** Whether the words of a field are names of the repository, not prose. */
export const isCode = (key: string) => CODE.has(key);

/** Names, not sentences: they stand side by side. */
export const isNames = (value: unknown): value is Plain[] =>
  Array.isArray(value) &&
  value.every((one) => isPlain(one) && (typeof one !== "string" || !/\s/.test(one)));

const COLUMNS = 7;

/** The columns of a table that shows these; null: each is better told by itself. */
export function columns(rows: unknown[]): string[] | null {
  if (rows.length === 0 || !rows.every(isFields)) return null;
  const found = [...new Set(rows.flatMap((row) => full(row).map(([key]) => key)))];
  const fits = rows.every((row) =>
    full(row).every(([, value]) => isPlain(value) || isNames(value)),
  );
  return fits && found.length > 1 && found.length <= COLUMNS ? found : null;
}

const SHORT = 40;

/** Whether all of it fits side by side. */
export const isShort = (fields: Fields) =>
  full(fields).every(
    ([, value]) => isPlain(value) && (typeof value !== "string" || value.length <= SHORT),
  );

/** Things that are alike, by their names, as rows; null: they are not. */
export function rowsOf(fields: Fields): Fields[] | null {
  const parts = full(fields);
  const rows = parts.map(([key, value]) => ({
    name: label(key),
    ...(isFields(value) ? value : {}),
  }));
  const alike = parts.length > 1 && parts.every(([, value]) => isFields(value));
  return alike && columns(rows) ? rows : null;
}

const NAMING = ["id", "number", "agent", "build_agent", "name", "title", "feature", "test"];
const MORE_NAMING = ["check", "path", "file", "error", "topic", "kind", "source"];

/** What one thing of a list is called, and the fields that say so. */
export function named(fields: Fields, what: string, index: number): [string[], string] {
  const said = (key: string) => isPlain(fields[key]) && fields[key] !== "";
  const key = [...NAMING, ...MORE_NAMING].find(said);
  if (!key) return [[], `${singular(what)} ${index + 1}`];
  const value = fields[key];
  if (typeof value === "number") return [[key], `${singular(what)} ${value}`];
  return key === "id" && said("name")
    ? [["id", "name"], `${value} ${fields.name}`]
    : [[key], String(value)];
}

function singular(key: string): string {
  const word = label(key);
  if (/(ch|sh|x)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

const TONES: Record<string, Tone> = {
  ...{ PASS: "good", COMPLETE: "good", COVERED: "good", FIXED: "good", MET: "good" },
  ...{ success: "good", WARN: "warn", PARTIAL: "warn", MAJOR: "warn", RESTART: "warn" },
  ...{ NEEDS_CONTINUATION: "warn", needs_external_debug: "warn", ESCALATE: "you" },
  ...{ FAIL: "bad", INCOMPLETE: "bad", NOT: "bad", NOT_MET: "bad", CRITICAL: "bad" },
  ...{ BLOCKER: "bad", MINOR: "neutral" },
};
const JUDGED = new Set([
  ...["status", "verdict", "severity", "decision", "final_status", "complexity", "priority"],
]);

/** The colour of a word that judges; null: it does not. */
export function toneOf(key: string, value: unknown): Tone | null {
  if (!JUDGED.has(key) || typeof value !== "string" || value === "" || value.length > 30)
    return null;
  return TONES[value] ?? "neutral";
}
