/** What a stage said, in a few words. Outputs come from agents and from other versions of this
 * program, so that nothing of them is taken for granted. */
import { plural } from "@/kit/text";
import { type Fields, isFields } from "./data";

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
const some = (items: unknown, word: string, many?: string) =>
  plural(Array.isArray(items) ? items.length : 0, word, many);
const said = (...parts: (string | false | null | undefined)[]) => parts.filter(Boolean).join(", ");
const word = (value: unknown) => (typeof value === "string" ? value : "");
const among = (items: unknown, key: string, value: string) =>
  list(items).filter((one) => one[key] === value).length;

const GISTS: Record<string, (output: Fields) => string> = {
  "task-breakdown": (o) => said(some(o.features, "feature"), blocked(o.blockers), risky(o.risks)),
  "code-discovery": (o) => {
    const overview = isFields(o.overview) ? o.overview : {};
    return said(word(overview.language), word(overview.framework), word(overview.type));
  },
  "plan-agent": (o) => said(some(o.batches, "batch", "batches"), risky(o.risks)),
  "docs-researcher": (o) => some(o.findings, "finding"),
  "pre-flight-checker": (o) => said(word(o.status), blocked(o.blockers)),
  "test-writer": (o) => {
    const count = list(o.files).reduce((sum, one) => sum + (Number(one.count) || 0), 0);
    const placeholders = isFields(o.placeholders) ? Number(o.placeholders.found) || 0 : 0;
    return said(plural(count, "test"), placeholders > 0 && plural(placeholders, "placeholder"));
  },
  "logical-agent": (o) => said(word(o.status), some(o.issues, "issue")),
  "test-agent": (o) =>
    said(word(o.status), typeof o.total === "number" && `${o.passed} of ${o.total} passed`),
  "integration-agent": (o) => {
    const failed = among(o.suites, "status", "FAIL");
    return said(
      some(o.suites, "suite"),
      failed > 0 && `${failed} failed`,
      Array.isArray(o.breaking_changes) &&
        o.breaking_changes.length > 0 &&
        some(o.breaking_changes, "breaking change"),
    );
  },
  "review-agent": (o) =>
    said(
      word(o.status),
      `${among(o.criteria, "verdict", "MET")} of ${list(o.criteria).length} criteria met`,
      some(o.issues, "issue"),
    ),
  "decide-agent": (o) => word(o.decision),
};

const blocked = (items: unknown) =>
  Array.isArray(items) && items.length > 0 && some(items, "blocker");
const risky = (items: unknown) => Array.isArray(items) && items.length > 0 && some(items, "risk");

const MANY: Record<string, string> = { "build-agent": "build", debugger: "report" };

export function gist(role: string, output: unknown): string {
  if (typeof output === "string") return plural(output.length, "character");
  if (Array.isArray(output)) return some(output, MANY[role] ?? "output");
  return isFields(output) ? (GISTS[role]?.(output) ?? "") : "";
}
