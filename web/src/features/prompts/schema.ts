/** The part of JSON Schema that a form can be made of; the server checks all of it. */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, JsonSchema | boolean>;
  items?: JsonSchema | boolean;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  [other: string]: unknown;
}

export type Widget = "choice" | "boolean" | "number" | "text" | "lines" | "list" | "group" | "json";

/** The schema behind references, of which a few are followed: they may go round in circles. */
export function resolved(schema: JsonSchema | boolean | undefined, root: JsonSchema): JsonSchema {
  let at: JsonSchema = typeof schema === "object" ? schema : {};
  for (let step = 0; at.$ref && step < 10; step++) {
    const { $ref, ...beside } = at;
    at = { ...place($ref, root), ...beside };
  }
  return at;
}

function place(ref: string, root: JsonSchema): JsonSchema {
  let at: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = (at as Record<string, unknown> | undefined)?.[name];
  }
  return typeof at === "object" && at !== null ? (at as JsonSchema) : {};
}

const LONG = 120;

/** How a value is asked for; what has no form of its own is asked for as JSON. */
export function widget(schema: JsonSchema, depth = 0): Widget {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  if (schema.enum || schema.const !== undefined) return "choice";
  if (schema.anyOf || schema.oneOf || schema.allOf || schema.not || depth > 4) return "json";
  switch (type) {
    case "boolean":
      return "boolean";
    case "integer":
    case "number":
      return "number";
    case "string":
      return schema.format === "markdown" || (schema.maxLength ?? 0) > LONG ? "lines" : "text";
    case "array":
      return typeof schema.items === "object" ? "list" : "json";
    case "object":
      return schema.properties ? "group" : "json";
    default:
      return "json";
  }
}

/** What a new field begins with: its default, or nothing. */
export function blank(schema: JsonSchema, root: JsonSchema, depth = 0): unknown {
  if (schema.default !== undefined) return schema.default;
  switch (widget(schema, depth)) {
    case "group": {
      const value: Record<string, unknown> = {};
      for (const [name, part] of Object.entries(schema.properties ?? {})) {
        const begun = blank(resolved(part, root), root, depth + 1);
        if (begun !== undefined) value[name] = begun;
      }
      return value;
    }
    case "list":
      return [];
    case "choice":
      return schema.const;
    default:
      return undefined;
  }
}

/** What is sent: without empty texts and fields that were left out. */
export function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled).filter((one) => one !== undefined);
  if (value && typeof value === "object") {
    const kept = Object.entries(value)
      .map(([name, one]) => [name, filled(one)] as const)
      .filter(([, one]) => one !== undefined);
    return Object.fromEntries(kept);
  }
  return value === "" ? undefined : value;
}

/** The places of required values that are missing, such as `contact.name`. */
export function missing(
  schema: JsonSchema,
  value: unknown,
  root: JsonSchema,
  at: string[] = [],
): string[] {
  if (widget(schema, at.length) === "list" && Array.isArray(value))
    return value.flatMap((one, index) =>
      missing(resolved(schema.items, root), one, root, [...at, String(index)]),
    );
  if (widget(schema, at.length) !== "group") return [];
  const given = (value ?? {}) as Record<string, unknown>;
  return Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const one = filled(given[name]);
    if (one === undefined) return schema.required?.includes(name) ? [[...at, name].join(".")] : [];
    return missing(resolved(part, root), one, root, [...at, name]);
  });
}

/** What the server found wrong, by place: `value.contact.name: is too short`. */
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

export function titleOf(name: string, schema: JsonSchema): string {
  if (schema.title) return schema.title;
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
