/** Text of agents and people is untrusted: what is shown holds no control or direction characters. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const LONG = 20_000;

export function clean(text: string): string {
  return text
    .replace(ANSI, "")
    .replace(/\r\n?/g, "\n")
    .replace(CONTROLS, "")
    .replace(DIRECTIONS, "�");
}

/** Enough of a long text to show; the rest is told, not shown. */
export function shortened(text: string, limit = LONG): { text: string; cut: number } {
  return text.length <= limit
    ? { text, cut: 0 }
    : { text: text.slice(0, limit), cut: text.length - limit };
}

export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "unknown";
  if (usd === 0) return "$0";
  return usd < 0.01 ? "<$0.01" : `$${usd.toFixed(usd < 100 ? 2 : 0)}`;
}

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return "unknown";
  if (value < 1000) return String(value);
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "unknown";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d`;
}

export function plural(n: number, word: string, many = `${word}s`): string {
  return `${n} ${n === 1 ? word : many}`;
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? "unknown" : `${Math.round(share * 100)} %`;
}
