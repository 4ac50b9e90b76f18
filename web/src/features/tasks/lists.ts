import type { Schemas } from "@/api/client";

export type Format = Schemas["TaskImport"]["format"];

export const FORMATS: [Format, string][] = [
  ["md", "Markdown list"],
  ["csv", "CSV with a header"],
  ["json", "Exported tasks (JSON)"],
];
const ENDINGS: Record<string, Format> = { md: "md", markdown: "md", csv: "csv", json: "json" };

/** What a list is, by its file's name, else by how it begins. */
export function formatOf(text: string, name: string): Format {
  const ending = name.toLowerCase().split(".").at(-1) ?? "";
  if (ENDINGS[ending]) return ENDINGS[ending];
  if (/^\s*(\{|\[\s*\{)/.test(text)) return "json";
  return /^\s*([-*+]|\d+[.)])\s+\[[ xX]\]/m.test(text) ? "md" : "csv";
}

/** The text of a file that is UTF-8; others would lose letters without a word. */
export function decoded(bytes: ArrayBuffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
