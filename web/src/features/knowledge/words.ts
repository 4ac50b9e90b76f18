/** The words of a finding as they are edited, and what of them changed. */
import type { Schemas } from "@/api/client";
import type { Kind, KnowledgeNode } from "./queries";
import { tagsOf } from "./results";

export const DETAILS: Record<Kind, string[]> = {
  task: [],
  pattern: ["location"],
  gotcha: ["discovered_in", "mitigation"],
  decision: ["question", "answer", "reason"],
  question: ["context", "recommendation"],
};
const NAMES: Record<string, string> = {
  text: "What it says",
  tags: "Tags",
  severity: "Severity",
  location: "Where",
  discovered_in: "Discovered in",
  mitigation: "What to do about it",
  question: "Question",
  answer: "Answer",
  reason: "Reason",
  context: "Context",
  recommendation: "Recommendation",
  blocking: "Blocking",
};
export const nameOf = (field: string) => NAMES[field] ?? field.replaceAll("_", " ");

export type Words = Record<string, string>;

export function wordsOf(node: KnowledgeNode): Words {
  return {
    text: node.text,
    tags: node.tags.join(", "),
    ...(node.kind === "gotcha" ? { severity: node.severity ?? "medium" } : {}),
    ...Object.fromEntries(
      DETAILS[node.kind].map((name) => [name, String(node.detail[name] ?? "")]),
    ),
  };
}

export const differing = (one: Words, other: Words) =>
  Object.keys(one).filter((field) => one[field] !== other[field]);

/** What the server is told: the fields that differ from those that the edit began with. */
export function changesOf(words: Words, base: Words): Schemas["NodeEdit"] {
  const edit: Schemas["NodeEdit"] = {};
  const detail: Record<string, string> = {};
  for (const field of differing(words, base)) {
    const value = words[field] ?? "";
    if (field === "text") edit.text = value;
    else if (field === "tags") edit.tags = tagsOf(value);
    else if (field === "severity") edit.severity = value;
    else detail[field] = value;
  }
  return Object.keys(detail).length > 0 ? { ...edit, detail } : edit;
}
