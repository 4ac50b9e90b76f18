/** Reads JSON as it is typed: where it breaks, and on which line each place stands. The messages of
 * `JSON.parse` differ between browsers, and not all of them say where. */

export interface Broken {
  message: string;
  line: number;
  column: number;
}
export type Read =
  | { value: unknown; lines: Map<string, number>; broken?: undefined }
  | { broken: Broken };

class Break extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON text holds none of them
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const WORD = /true|false|null/y;
const DEEPEST = 64;

export function readJson(source: string): Read {
  const places = new Map<string, number>();
  try {
    const end = skip(source, value(source, skip(source, 0), "", 0, places));
    if (end < source.length) throw new Break("Nothing may follow the document here.", end);
  } catch (error) {
    if (!(error instanceof Break)) throw error;
    return { broken: { message: error.message, ...spot(source, error.at) } };
  }
  return { value: JSON.parse(source), lines: linesOf(source, places) };
}

/** Line and column of an offset, both counted from 1. */
export function spot(source: string, at: number): { line: number; column: number } {
  const before = source.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - before.lastIndexOf("\n") };
}

/** The line of a place, or of the nearest thing that it lies in. */
export function lineOf(lines: Map<string, number>, position: string): number | null {
  for (let at = position; at; at = at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : "") {
    const found = lines.get(at);
    if (found !== undefined) return found;
  }
  return null;
}

function linesOf(source: string, places: Map<string, number>): Map<string, number> {
  const lines = new Map<string, number>();
  let line = 1;
  let seen = 0;
  // Places were found in the order of the text.
  for (const [position, at] of places) {
    for (; seen < at; seen++) if (source.charCodeAt(seen) === 10) line++;
    lines.set(position, line);
  }
  return lines;
}

function skip(source: string, at: number): number {
  return match(SPACE, source, at) ?? at;
}

function match(pattern: RegExp, source: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(source) ? pattern.lastIndex : null;
}

function value(
  source: string,
  at: number,
  position: string,
  depth: number,
  places: Map<string, number>,
): number {
  if (depth > DEEPEST) throw new Break("This is nested too deep.", at);
  switch (source[at]) {
    case "{":
      return members(source, at, position, depth, places);
    case "[":
      return items(source, at, position, depth, places);
    case '"':
      return string(source, at);
    case undefined:
      throw new Break("The document ends here, before it is whole.", at);
    default: {
      const end = match(NUMBER, source, at) ?? match(WORD, source, at);
      if (end === null) throw new Break("A value is missing here.", at);
      return end;
    }
  }
}

function string(source: string, at: number): number {
  const end = match(STRING, source, at);
  if (end === null)
    throw new Break("This text has no end, or a character that is not allowed.", at);
  return end;
}

function members(
  source: string,
  start: number,
  position: string,
  depth: number,
  places: Map<string, number>,
): number {
  const seen = new Set<string>();
  let at = skip(source, start + 1);
  if (source[at] === "}") return at + 1;
  for (;;) {
    if (source[at] !== '"') throw new Break('A key in " is missing here.', at);
    const end = string(source, at);
    const key = JSON.parse(source.slice(at, end)) as string;
    if (seen.has(key)) throw new Break(`The key "${key}" stands here twice.`, at);
    seen.add(key);
    const below = position ? `${position}.${key}` : key;
    places.set(below, at);
    at = skip(source, end);
    if (source[at] !== ":") throw new Break("A colon is missing here.", at);
    at = skip(source, value(source, skip(source, at + 1), below, depth + 1, places));
    if (source[at] === "}") return at + 1;
    if (source[at] !== ",") throw new Break("A comma or } is missing here.", at);
    at = skip(source, at + 1);
  }
}

function items(
  source: string,
  start: number,
  position: string,
  depth: number,
  places: Map<string, number>,
): number {
  let at = skip(source, start + 1);
  if (source[at] === "]") return at + 1;
  for (let index = 0; ; index++) {
    const below = position ? `${position}.${index}` : String(index);
    places.set(below, at);
    at = skip(source, value(source, at, below, depth + 1, places));
    if (source[at] === "]") return at + 1;
    if (source[at] !== ",") throw new Break("A comma or ] is missing here.", at);
    at = skip(source, at + 1);
  }
}
