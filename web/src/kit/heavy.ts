/** Whether Markdown would take long to draw. Its parser takes the square of the time on signs that may
 * begin something and do not, and falls over on what is nested too deeply: an agent's text must not
 * freeze the page of whoever reviews it. */
export function heavy(text: string): boolean {
  let fence = "";
  let block = 0;
  let all = 0;
  for (const line of text.split("\n")) {
    if (fence) {
      if (closes(line, fence)) fence = "";
      continue;
    }
    // Only at the very beginning of a line: further in, it may end with the item that it stands in.
    fence = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) continue;
    if (depth(line) > MOST_LEVELS) return true;
    const signs = count(line);
    block = line.trim() ? block + signs : 0;
    all += signs;
    if (block > MOST_IN_A_BLOCK || all > MOST_SIGNS) return true;
  }
  return false;
}

const MOST_LEVELS = 30;
const MOST_IN_A_BLOCK = 2500;
const MOST_SIGNS = 20_000;

function closes(line: string, fence: string): boolean {
  const plain = line.trimEnd();
  return plain.startsWith(fence) && !plain.replaceAll(fence[0] as string, "");
}

/** Of the quotes and lists that a line stands in. */
function depth(line: string): number {
  let levels = 0;
  for (let at = 0; at < line.length && levels <= MOST_LEVELS; at++) {
    const sign = line[at] as string;
    if (sign === " " || sign === "\t" || DIGITS.includes(sign)) continue;
    const apart = " \t".includes(line[at + 1] ?? " ");
    if (sign !== ">" && !(MARKS.includes(sign) && apart)) break;
    levels++;
  }
  return levels;
}

function count(line: string): number {
  let found = 0;
  for (const sign of line) if (SIGNS.includes(sign)) found++;
  return found;
}

const MARKS = "-*+.)";
const DIGITS = "0123456789";
const SIGNS = "*_~`[]|<";
