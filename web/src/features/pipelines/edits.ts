/** Changes to a pipeline's document. Each gives a new one, and leaves what it does not know alone. */
import { ORIGIN } from "./shape";

export type Document = Record<string, unknown>;
type Row = Record<string, unknown>;

const rows = (document: Document, key: string): Row[] =>
  Array.isArray(document[key]) ? (document[key] as Row[]) : [];

/** Keys that are set to nothing are taken out, so that the document stays as short as it can be. */
function changed(row: Row, part: Row): Row {
  const next = { ...row, ...part };
  for (const key of Object.keys(part)) {
    const value = next[key];
    const nothing =
      value === undefined ||
      value === "" ||
      (Array.isArray(value) && value.length === 0) ||
      (value !== null && typeof value === "object" && Object.keys(value).length === 0);
    if (nothing) delete next[key];
  }
  return next;
}

const replaced = (all: Row[], index: number, row: Row) =>
  all.map((each, at) => (at === index ? row : each));

export const written = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;

export function setStatus(document: Document, index: number, part: Row): Document {
  const all = rows(document, "statuses");
  const before = all[index];
  if (!before) return document;
  const next = { ...document, statuses: replaced(all, index, changed(before, part)) };
  return typeof part.id === "string" && part.id !== before.id
    ? renamed(next, String(before.id), part.id)
    : next;
}

/** Transitions, and guards that count a status, follow its new name. */
function renamed(document: Document, old: string, id: string): Document {
  const end = (name: unknown) => (name === old ? id : name);
  return {
    ...document,
    transitions: rows(document, "transitions").map((row) => ({
      ...row,
      from: end(row.from),
      to: end(row.to),
      ...(Array.isArray(row.guards)
        ? { guards: (row.guards as Row[]).map((guard) => counted(guard, old, id)) }
        : {}),
    })),
  };
}

function counted(guard: Row, old: string, id: string): Row {
  const params = guard.params as Row | undefined;
  return params?.statusId === old ? { ...guard, params: { ...params, statusId: id } } : guard;
}

function unused(wanted: string, taken: unknown[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++)
    if (!taken.includes(`${wanted}_${number}`)) return `${wanted}_${number}`;
}

export function addStatus(document: Document): Document {
  const all = rows(document, "statuses");
  const positions = all.map((row) => (typeof row.position === "number" ? row.position : 0));
  const id = unused(
    "new_status",
    all.map((row) => row.id),
  );
  const position = Math.max(-1, ...positions) + 1;
  return { ...document, statuses: [...all, { id, category: "active", position }] };
}

/** Its transitions go with it. */
export function removeStatus(document: Document, index: number): Document {
  const all = rows(document, "statuses");
  const id = all[index]?.id;
  return {
    ...document,
    statuses: all.filter((_, at) => at !== index),
    transitions: rows(document, "transitions").filter((row) => row.from !== id && row.to !== id),
  };
}

export function addTransition(document: Document, from: string, to: string): Document {
  const all = rows(document, "transitions");
  const id = unused(
    `${from}_to_${to === ORIGIN ? "origin" : to}`,
    all.map((row) => row.id),
  );
  return { ...document, transitions: [...all, { id, from, to, trigger: { type: "manual" } }] };
}

export function setTransition(document: Document, index: number, part: Row): Document {
  const all = rows(document, "transitions");
  const before = all[index];
  if (!before) return document;
  const next = changed(before, part);
  // The older notation of a trigger has its outcome beside it.
  if ("trigger" in part) delete next.outcomeValue;
  return { ...document, transitions: replaced(all, index, next) };
}

export function removeTransition(document: Document, index: number): Document {
  return {
    ...document,
    transitions: rows(document, "transitions").filter((_, at) => at !== index),
  };
}
