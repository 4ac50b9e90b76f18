/** The part of a transcript that is held: bounded, whatever the size of the whole. */
import { type Entry, entriesOf, type Line, type Position } from "./messages";

export interface Limits {
  bytes: number;
  lines: number;
}
export const LIMITS: Limits = { bytes: 6 * 1024 * 1024, lines: 20_000 };

export interface Window {
  lines: Line[];
  entries: Entry[];
  bytes: number;
  /** Whether there is more before what is held, and after it. */
  above: boolean;
  below: boolean;
}

export const EMPTY: Window = { lines: [], entries: [], bytes: 0, above: false, below: false };

const size = (line: Line) => line.next - line.offset;
const sum = (lines: Line[]) => lines.reduce((total, line) => total + size(line), 0);

const isFirst = (at: Position | undefined) => !at || (at.turn === 1 && at.offset === 0);

/** With new lines at the end; what is too much goes from the beginning. */
export function appended(held: Window, lines: Line[], limits = LIMITS): Window {
  if (lines.length === 0) return held;
  const entries = held.entries.concat(entriesOf(lines, held.entries.at(-1)));
  return trimmed(
    { ...held, lines: held.lines.concat(lines), entries, bytes: held.bytes + sum(lines) },
    "top",
    limits,
  );
}

/** With older lines at the beginning; what is too much goes from the end. */
export function prepended(held: Window, lines: Line[], limits = LIMITS): Window {
  if (lines.length === 0) return { ...held, above: false };
  return trimmed(
    {
      ...held,
      lines: lines.concat(held.lines),
      entries: entriesOf(lines).concat(held.entries),
      bytes: held.bytes + sum(lines),
      above: !isFirst(lines[0]),
    },
    "bottom",
    limits,
  );
}

function trimmed(held: Window, from: "top" | "bottom", limits: Limits): Window {
  let { bytes } = held;
  let [first, last] = [0, held.lines.length];
  while (last - first > 1 && (bytes > limits.bytes || last - first > limits.lines)) {
    const gone = from === "top" ? held.lines[first++] : held.lines[--last];
    bytes -= size(gone as Line);
  }
  if (last - first === held.lines.length) return held;
  const lines = held.lines.slice(first, last);
  const [begin, end] = [lines[0] as Line, lines.at(-1) as Line];
  return {
    lines,
    bytes,
    entries: held.entries.filter((entry) => !before(entry, begin) && !before(end, entry)),
    above: held.above || first > 0,
    below: held.below || last < held.lines.length,
  };
}

function before(one: Position, other: Position): boolean {
  return one.turn < other.turn || (one.turn === other.turn && one.offset < other.offset);
}

/** The index that a list gives its first row, so that what is read stays where it is while rows
 * come or go above it. */
export function shifted(first: number, was: Entry[], now: Entry[]): number {
  const [old, fresh] = [was[0]?.key, now[0]?.key];
  if (old === fresh || old === undefined || fresh === undefined) return first;
  const come = now.findIndex((entry) => entry.key === old);
  if (come >= 0) return first - come;
  const gone = was.findIndex((entry) => entry.key === fresh);
  return gone >= 0 ? first + gone : first;
}
