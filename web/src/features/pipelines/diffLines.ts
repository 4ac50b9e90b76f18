/** Lines that differ between two texts, with a few around them that do not. */

export interface DiffLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
  /** Counted from 1, in the text that the line is of; of a gap, how many lines it leaves out. */
  number: number;
}

const AROUND = 3;
/** Beyond this many pairs of lines, what lies between is told as one change. */
const MOST_PAIRS = 4_000_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const same = (from: number, to: number): DiffLine[] =>
    now.slice(from, to).map((text, at) => ({ kind: "same", text, number: from + at + 1 }));
  return folded([
    ...same(0, start),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end), start),
    ...same(now.length - end, now.length),
  ]);
}

/** By the longest common subsequence of lines. */
function changed(old: string[], now: string[], start: number): DiffLine[] {
  const width = now.length + 1;
  const whole = old.length * now.length > MOST_PAIRS;
  const common = new Uint32Array(whole ? 0 : (old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  if (!whole)
    for (let i = old.length - 1; i >= 0; i--)
      for (let j = now.length - 1; j >= 0; j--)
        common[i * width + j] =
          old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [gone, come] = [old[i], now[j]];
    if (!whole && gone !== undefined && gone === come) {
      lines.push({ kind: "same", text: gone, number: start + ++j });
      i++;
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1)))
      lines.push({ kind: "removed", text: gone, number: start + ++i });
    else lines.push({ kind: "added", text: come ?? "", number: start + ++j });
  }
  return lines;
}

/** Long stretches that are the same become gaps. */
function folded(lines: DiffLine[]): DiffLine[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    const from = Math.max(0, index - AROUND);
    near.fill(1, from, index + AROUND + 1);
  });
  const shown: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (near[index]) shown.push(line);
    else {
      const last = shown.at(-1);
      if (last?.kind === "gap") last.number++;
      else shown.push({ kind: "gap", text: "", number: 1 });
    }
  });
  return shown;
}
