/** The words of a task as a form holds them, and what of them changed. */
import type { Schemas, Task } from "@/api/client";

export interface Words {
  title: string;
  description: string;
  objective: string;
  type: string;
  priority: string;
  size: string;
  complexity: string;
  tags: string;
  acceptance_criteria: string;
  dependencies: string;
  /** Empty: the project's default. */
  agent: string;
  /** Empty: the agent's own choice. */
  model: string;
}

const LISTS = { tags: ", ", acceptance_criteria: "\n", dependencies: "\n" } as const;

const OPTIONAL = new Set<keyof Words>(["agent", "model"]);

export const NAMES: Record<keyof Words, string> = {
  title: "Title",
  description: "What is to be done",
  objective: "Objective",
  type: "Type",
  priority: "Priority",
  size: "Size",
  complexity: "Complexity",
  tags: "Tags",
  acceptance_criteria: "Acceptance criteria",
  dependencies: "Depends on",
  agent: "Agent",
  model: "Model",
};

export function wordsOf(task: Task): Words {
  const { title, description, objective, type, priority, size, complexity } = task;
  const words = { title, description, objective, type, priority, size, complexity };
  return {
    ...words,
    tags: task.tags.join(LISTS.tags),
    acceptance_criteria: task.acceptance_criteria.join(LISTS.acceptance_criteria),
    dependencies: task.dependencies.join(LISTS.dependencies),
    agent: task.agent ?? "",
    model: task.model ?? "",
  };
}

export function differing(one: Words, other: Words): (keyof Words)[] {
  return (Object.keys(NAMES) as (keyof Words)[]).filter((key) => one[key] !== other[key]);
}

/** Only what was changed is sent, so that two people can edit different words at once. */
export function changesOf(words: Words, base: Words): Schemas["TaskEdit"] {
  const changes: Record<string, unknown> = {};
  for (const key of differing(words, base))
    if (key in LISTS) changes[key] = listed(words[key], key === "tags" ? /[,\n]/ : /\n/);
    else changes[key] = OPTIONAL.has(key) ? words[key].trim() || null : words[key];
  return changes;
}

function listed(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter(Boolean);
}
