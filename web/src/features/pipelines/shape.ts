/** A pipeline as it is drawn and listed: of one that is saved, and of a document that is being written. */
import type { Schemas } from "@/api/client";

export type Status = Schemas["Status"];
export type Transition = Schemas["Transition"];
export type Category = Schemas["Category"];
export type TriggerType = Schemas["TriggerType"];
export type Finding = Schemas["Finding"];
export type Shape = Pick<
  Schemas["Pipeline"],
  "id" | "name" | "description" | "statuses" | "transitions"
>;

/** What is looked at: by its place in the document, which findings name too. */
export interface Selected {
  kind: "status" | "transition";
  index: number;
}

export const ORIGIN = "$origin";
export const ANY = "*";
export const CATEGORIES: Category[] = ["open", "active", "waiting", "review", "final"];
export const TRIGGERS: TriggerType[] = [
  "manual",
  "agent_outcome",
  "agent_error",
  "prompt_response",
  "review_submitted",
  "auto",
  "loop_back",
  "any",
];

type Raw = Record<string, unknown>;
const object = (value: unknown): Raw =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Raw) : {};
const list = (value: unknown): Raw[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown) => (typeof value === "string" ? value : "");
const OLDER: Record<string, Category> = { done: "final", backlog: "open" };

/** Reads a document leniently: what is wrong in it is for the linter to say, not to stop the drawing. */
export function shapeOf(document: unknown): Shape {
  const raw = object(document);
  return {
    id: text(raw.id),
    name: text(raw.name),
    description: text(raw.description),
    statuses: list(raw.statuses).map(status),
    transitions: list(raw.transitions).map(transition),
  };
}

function status(raw: Raw, index: number): Status {
  const id = text(raw.id);
  const category = OLDER[text(raw.category)] ?? (raw.category as Category);
  const prompt = object(raw.prompt);
  return {
    id,
    title: text(raw.label) || id.replaceAll("_", " "),
    color: typeof raw.color === "string" ? raw.color : null,
    category: CATEGORIES.includes(category) ? category : "open",
    position: typeof raw.position === "number" ? raw.position : index,
    stage: null,
    role: null,
    handoff: null,
    prompt: prompt.type
      ? {
          type: prompt.type as Schemas["PromptType"],
          expires_after: typeof prompt.expires_after === "number" ? prompt.expires_after : null,
          roles: Array.isArray(prompt.roles) ? prompt.roles.map(String) : [],
        }
      : null,
  };
}

function transition(raw: Raw, index: number): Transition {
  const trigger =
    typeof raw.trigger === "string"
      ? { type: raw.trigger, outcome: raw.outcomeValue }
      : object(raw.trigger);
  const [from, to] = [text(raw.from), text(raw.to)];
  const outcome = text(trigger.outcome) || null;
  return {
    // As the server names those that have no id.
    id: text(raw.id) || `${from}-${outcome ?? text(trigger.type)}-${to}-${index}`,
    from,
    to,
    title: text(raw.label) || `to ${to}`,
    trigger: { type: text(trigger.type) as TriggerType, outcome },
    guards: list(raw.guards).map((guard) => ({
      type: text(guard.type),
      params: object(guard.params),
      not: guard.not === true,
    })),
    hooks: list(raw.hooks).map((hook) => ({
      type: text(hook.type),
      params: object(hook.params),
      policy: (hook.policy as Schemas["Policy"] | undefined) ?? null,
    })),
  };
}

const SAID: Partial<Record<TriggerType, string>> = {
  agent_error: "agent failed",
  prompt_response: "answered",
  auto: "at once",
  loop_back: "looped back",
  any: "anything",
};
const DECISIONS: Record<string, string> = {
  review_approved: "approved",
  review_changes_requested: "changes asked for",
  split_approved: "split approved",
  split_rejected: "split rejected",
};
const words = (name: string) => name.replaceAll("_", " ");

/** What sets a transition going, in few words. */
export function cause(one: Transition): string {
  if (one.trigger.outcome) return words(one.trigger.outcome);
  const decision = one.guards.find((guard) => !guard.not && DECISIONS[guard.type]);
  if (decision) return DECISIONS[decision.type] as string;
  if (one.trigger.type === "review_submitted") return "reviewed";
  const label = one.title === `to ${one.to}` ? "" : one.title;
  return label || SAID[one.trigger.type] || "by hand";
}

export function place(shape: Shape, id: string): string {
  if (id === ORIGIN) return "where it came from";
  if (id === ANY) return "any status";
  return shape.statuses.find((one) => one.id === id)?.title ?? id;
}

/** The transitions out of a status, with their places; those of any status come last. */
export function leaving(shape: Shape, id: string): { one: Transition; index: number }[] {
  const all = shape.transitions.map((one, index) => ({ one, index }));
  const final = shape.statuses.find((each) => each.id === id)?.category === "final";
  return [
    ...all.filter(({ one }) => one.from === id),
    ...(final ? [] : all.filter(({ one }) => one.from === ANY && one.to !== id)),
  ];
}

/** The place that a finding names: `transitions.3.guards.0` is of the fourth transition. */
export function placeOf(finding: Finding): Selected | null {
  const [kind, index] = finding.position.split(".");
  const number = Number(index);
  if (index === undefined || !Number.isInteger(number)) return null;
  if (kind === "statuses") return { kind: "status", index: number };
  return kind === "transitions" ? { kind: "transition", index: number } : null;
}

/** Findings by the status or transition that they are about; the rest is about the whole. */
export type Placed = Map<string, Finding[]>;
const keyOf = (at: Selected | null) => (at ? `${at.kind}.${at.index}` : "");

export function placed(findings: Finding[]): Placed {
  const by: Placed = new Map();
  for (const finding of findings) {
    const key = keyOf(placeOf(finding));
    const there = by.get(key);
    if (there) there.push(finding);
    else by.set(key, [finding]);
  }
  return by;
}

const NONE: Finding[] = [];
export const findingsAt = (by: Placed, at: Selected): Finding[] => by.get(keyOf(at)) ?? NONE;

export const worst = (findings: Finding[]): Finding["severity"] | null =>
  findings.some((one) => one.severity === "error")
    ? "error"
    : findings.length > 0
      ? "warning"
      : null;
