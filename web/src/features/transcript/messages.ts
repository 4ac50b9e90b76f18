/** What a transcript shows: the lines that an agent printed, as entries for people. */
import { clean } from "@/kit/text";

export type Message = { [key: string]: unknown };

export interface Position {
  turn: number;
  offset: number;
}

/** A line as the server tells it. `next` is where the following one begins. */
export interface Line extends Position {
  next: number;
  messages: Message[];
  /** When it came, where it was seen to come; null for the past. */
  at: number | null;
}

interface Base extends Position {
  key: string;
  at: number | null;
}
export type Entry =
  | (Base & { kind: "turn" })
  | (Base & { kind: "words"; text: string })
  | (Base & { kind: "output"; text: string; bad: boolean })
  | (Base & { kind: "tool"; name: string; brief: string; input: unknown })
  | (Base & { kind: "result"; name: string; text: string; brief: string; ok: boolean })
  | (Base & { kind: "usage"; usage: Message })
  | (Base & { kind: "end"; text: string; repeats: boolean })
  | (Base & { kind: "error"; text: string; errorClass: string | null })
  | (Base & { kind: "other"; name: string; content: Message });

const BAD = /^\s*(error|fatal|panic|traceback|refused)\b|(error|exception):|\bFAILED\b/i;
const BRIEF = 200;

const words = (value: unknown) => (typeof value === "string" ? value : "");

/** The entries of new lines; `before` is the entry that stands ahead of them. */
export function entriesOf(lines: Line[], before?: Entry): Entry[] {
  const found: Entry[] = [];
  let said = before?.kind === "words";
  for (const line of lines) {
    const { turn, offset, at } = line;
    if (offset === 0) {
      found.push({ kind: "turn", key: `${turn}-turn`, turn, offset, at });
      said = false;
    }
    line.messages.forEach((message, index) => {
      const base = { key: `${turn}-${offset}-${index}`, turn, offset, at };
      const entry = entryOf(base, message, said);
      if (!entry) return;
      said ||= entry.kind === "words";
      found.push(entry);
    });
  }
  return found;
}

function entryOf(base: Base, message: Message, said: boolean): Entry | null {
  switch (message.type) {
    case "assistant":
      return { ...base, kind: "words", text: words(message.text) };
    case "output": {
      const text = words(message.text);
      // Only the beginning is looked at: a line may be a megabyte long.
      return { ...base, kind: "output", text, bad: BAD.test(text.slice(0, 2000)) };
    }
    case "tool_use":
      return {
        ...base,
        kind: "tool",
        name: clean(words(message.name)) || "tool",
        brief: brief(message.input),
        input: message.input,
      };
    case "tool_result": {
      const text = words(message.text);
      const name = clean(words(message.name)) || "tool";
      return {
        ...base,
        kind: "result",
        name,
        text,
        brief: oneLine(text),
        ok: message.ok !== false,
      };
    }
    case "usage":
      return { ...base, kind: "usage", usage: message };
    case "usage_so_far":
      return null;
    case "result":
      return typeof message.error === "string"
        ? {
            ...base,
            kind: "error",
            text: message.error,
            errorClass: words(message.error_class) || null,
          }
        : { ...base, kind: "end", text: words(message.text), repeats: said };
    default:
      return { ...base, kind: "other", name: words(message.type) || "message", content: message };
  }
}

const TELLING = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description"];

/** A tool's input on one line: what it is about, else all of it. */
export function brief(input: unknown): string {
  if (typeof input === "string") return oneLine(input);
  if (!input || typeof input !== "object") return input === undefined ? "" : String(input);
  const fields = input as Message;
  const telling = TELLING.find((name) => typeof fields[name] === "string");
  if (telling) return oneLine(fields[telling] as string);
  const text = JSON.stringify(input);
  return text === "{}" ? "" : oneLine(text);
}

function oneLine(text: string): string {
  const line = clean(text.slice(0, 2 * BRIEF))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > BRIEF || text.length > 2 * BRIEF ? `${line.slice(0, BRIEF)}…` : line;
}

/** All words of an entry, for searching. */
export function textOf(entry: Entry): string {
  switch (entry.kind) {
    case "words":
    case "output":
    case "result":
    case "end":
    case "error":
      return entry.text;
    case "tool":
      return `${entry.name} ${entry.brief}`;
    case "other":
      return JSON.stringify(entry.content);
    default:
      return "";
  }
}

export const FILTERS = ["all", "words", "tools", "errors"] as const;
export type Filter = (typeof FILTERS)[number];

export const isError = (entry: Entry) =>
  entry.kind === "error" ||
  (entry.kind === "output" && entry.bad) ||
  (entry.kind === "result" && !entry.ok);

export function filtered(entries: Entry[], filter: Filter): Entry[] {
  switch (filter) {
    case "all":
      return entries;
    case "words":
      return entries.filter((e) => e.kind === "words" || e.kind === "end" || e.kind === "error");
    case "tools":
      return entries.filter((e) => e.kind === "tool" || e.kind === "result" || e.kind === "error");
    case "errors":
      return entries.filter(isError);
  }
}

/** Where the entries hold the words, whatever their case. */
export function matches(entries: Entry[], wanted: string): number[] {
  const low = wanted.trim().toLowerCase();
  if (!low) return [];
  const found: number[] = [];
  entries.forEach((entry, index) => {
    if (textOf(entry).toLowerCase().includes(low)) found.push(index);
  });
  return found;
}

/** The next of some places after (or before) one, round and round. */
export function step(places: number[], from: number, by: 1 | -1): number | null {
  if (places.length === 0) return null;
  if (by === 1) return places.find((place) => place > from) ?? (places[0] as number);
  const earlier = places.filter((place) => place < from);
  return (earlier.at(-1) ?? places.at(-1)) as number;
}

/** What an agent is at: its last entry, where that is a tool that nothing has followed. */
export function doing(entries: Entry[]): Extract<Entry, { kind: "tool" }> | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as Entry;
    if (entry.kind === "usage") continue;
    return entry.kind === "tool" ? entry : null;
  }
  return null;
}

/** How long a tool took, in seconds, where its beginning and what followed were both seen. */
export function took(entry: Entry, next: Entry | undefined): number | null {
  return entry.at === null || !next?.at ? null : Math.max(0, (next.at - entry.at) / 1000);
}

export const address = (at: Position) => `t${at.turn}-${at.offset}`;

export function addressed(hash: string): Position | null {
  const found = /^#?t(\d{1,3})-(\d{1,15})$/.exec(hash);
  return found ? { turn: Number(found[1]), offset: Number(found[2]) } : null;
}
