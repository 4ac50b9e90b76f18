/** Forms that projects define, in the part of JSON Schema that `domain/form_schema.py` lets through. */
import type { Line } from "./said";

export interface JsonSchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: (string | number)[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

export type Widget = "choice" | "boolean" | "number" | "text" | "lines" | "list" | "group";

const LONG = 120;

/** How a value is asked for. */
export function widget(schema: JsonSchema): Widget {
  if (schema.enum) return "choice";
  switch (schema.type) {
    case "boolean":
      return "boolean";
    case "integer":
    case "number":
      return "number";
    case "array":
      return "list";
    case "object":
      return "group";
    default:
      return schema.format === "markdown" || (schema.maxLength ?? 0) > LONG ? "lines" : "text";
  }
}

interface Part {
  name: string;
  schema: JsonSchema;
  needed: boolean;
  value: unknown;
}

/** The fields of a group, each with what was given for it. */
export function parts(schema: JsonSchema, value: unknown): Part[] {
  const given = (value ?? {}) as Record<string, unknown>;
  return Object.entries(schema.properties ?? {}).map(([name, part]) => ({
    name,
    schema: part,
    needed: schema.required?.includes(name) ?? false,
    value: given[name],
  }));
}

export const entries = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const itemOf = (schema: JsonSchema): JsonSchema => schema.items ?? {};

/** What a new field begins with: its default, or nothing. */
export function blank(schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (widget(schema) !== "group") return undefined;
  const begun = parts(schema, {}).map((part) => [part.name, blank(part.schema)] as const);
  return Object.fromEntries(begun.filter(([, value]) => value !== undefined));
}

/** What is sent: without what was left blank. */
export function filled(schema: JsonSchema, value: unknown): unknown {
  switch (widget(schema)) {
    case "group": {
      const kept = parts(schema, value)
        .map((part) => [part, filled(part.schema, part.value)] as const)
        .filter(([part, one]) => one !== undefined && (part.needed || !isEmpty(one)))
        .map(([part, one]) => [part.name, one] as const);
      return Object.fromEntries(kept);
    }
    case "list":
      return entries(value).map((one) => filled(itemOf(schema), one));
    default:
      return typeof value === "string" && !value.trim() ? undefined : value;
  }
}

const isEmpty = (value: unknown) =>
  value === undefined ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** What is needed and not there yet, by its titles: `Contact / Name`. */
export function missing(schema: JsonSchema, value: unknown, at: string[] = []): string[] {
  switch (widget(schema)) {
    case "group":
      return parts(schema, value).flatMap((part) => {
        const there = [...at, titleOf(part.name, part.schema)];
        if (!part.needed && isEmpty(filled(part.schema, part.value))) return [];
        return missing(part.schema, part.value, there);
      });
    case "list":
      return entries(value).flatMap((one, index) =>
        missing(itemOf(schema), one, [...at, String(index + 1)]),
      );
    default:
      return filled(schema, value) === undefined ? [at.join(" / ")] : [];
  }
}

/** What the server found wrong, by place: `value.contact.name: is missing`. */
export function faultsByPlace(details: string[], root = "value"): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of details) {
    const colon = line.indexOf(": ");
    const path = colon < 0 ? "" : line.slice(0, colon);
    const named =
      path === root ? "" : path.startsWith(`${root}.`) ? path.slice(root.length + 1) : null;
    const place = named ?? "";
    const words = named === null ? line : line.slice(colon + 2);
    found[place] = found[place] ? `${found[place]} ${words}` : words;
  }
  return found;
}

export function titleOf(name: string, schema: JsonSchema = {}): string {
  if (schema.title) return schema.title;
  const words = name.replace(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** A value in lines for people: each thing that it holds, with its name. */
export function rows(value: unknown, schema: JsonSchema = {}, at: string[] = []): Line[] {
  if (Array.isArray(value) && value.some((one) => typeof one === "object"))
    return value.flatMap((one, index) => rows(one, schema.items, [...at, String(index + 1)]));
  if (value && typeof value === "object" && !Array.isArray(value))
    return Object.entries(value).flatMap(([name, one]) => {
      const part = schema.properties?.[name];
      return rows(one, part, [...at, titleOf(name, part)]);
    });
  return [{ label: at.join(" / "), text: word(value) }];
}

function word(value: unknown): string {
  if (Array.isArray(value)) return value.map(word).join(", ");
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return value === null || value === undefined ? "none" : String(value);
}
