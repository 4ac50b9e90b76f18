/** How findings look, wherever they are shown. */
import { Link } from "@tanstack/react-router";
import { Chip, type Tone } from "@/kit/Chip";
import { clean } from "@/kit/text";
import type { Kind, State, TaskRef } from "./queries";

export const KINDS: Record<Kind, string> = {
  pattern: "Pattern",
  gotcha: "Gotcha",
  decision: "Decision",
  question: "Question",
  task: "Task",
};
const KIND_TONES: Record<Kind, Tone> = {
  pattern: "accent",
  gotcha: "warn",
  decision: "good",
  question: "you",
  task: "neutral",
};
export const STATES: Record<State, string> = {
  active: "Active",
  stale: "Stale",
  contradicted: "Contradicted",
  retired: "Retired",
};
export const MEANINGS: Record<State, string> = {
  active: "It holds, as far as anybody has said.",
  stale: "A file that it speaks of has changed since. Agents are told so.",
  contradicted: "Another finding says otherwise, and nobody has said which of the two holds.",
  retired: "It holds no longer. Agents are not told it.",
};
const STATE_TONES: Record<State, Tone> = {
  active: "good",
  stale: "warn",
  contradicted: "bad",
  retired: "neutral",
};
const SEVERITY_TONES: Record<string, Tone> = { high: "bad", medium: "warn", low: "neutral" };

export function KindChip({ kind }: { kind: Kind }) {
  return <Chip tone={KIND_TONES[kind]}>{KINDS[kind]}</Chip>;
}

export function StateChip({ state }: { state: State }) {
  return (
    <Chip tone={STATE_TONES[state]} title={MEANINGS[state]}>
      {STATES[state].toLowerCase()}
    </Chip>
  );
}

export function SeverityChip({ severity }: { severity: string }) {
  return <Chip tone={SEVERITY_TONES[severity] ?? "neutral"}>{severity}</Chip>;
}

/** How often it was told, and how often that went well. */
export function Worth({ used, helpful }: { used: number; helpful: number }) {
  return (
    <span
      className="whitespace-nowrap tabular-nums"
      title="In the prompts of how many runs it was, and how many of those ended well"
    >
      {used === 0 ? "never told" : `told ${used}×, ${helpful} went well`}
    </span>
  );
}

export function TaskLink({ task }: { task: TaskRef }) {
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: task.id }}
      title={`${clean(task.title)} (${clean(task.status)})`}
      className="max-w-full truncate text-accent-text hover:underline"
    >
      {clean(task.title)}
    </Link>
  );
}

export function NodeLink({ node }: { node: { id: string; text: string } }) {
  return (
    <Link
      to="/knowledge/nodes/$nodeId"
      params={{ nodeId: node.id }}
      className="font-medium wrap-anywhere hover:underline"
    >
      {clean(node.text)}
    </Link>
  );
}
