import type { Schemas } from "@/api/client";
import type { Found, TaskRef } from "./queries";

/** Tags as they stand in the address: with commas between, each once. */
export const tagsOf = (text: string | undefined) => [
  ...new Set((text ?? "").split(",").flatMap((tag) => tag.trim().toLowerCase() || [])),
];

export function withTag(text: string | undefined, tag: string): string | undefined {
  return tagsOf(`${text ?? ""},${tag}`).join(",") || undefined;
}

export function withoutTag(text: string | undefined, tag: string): string | undefined {
  return (
    tagsOf(text)
      .filter((one) => one !== tag)
      .join(",") || undefined
  );
}

export interface Teller {
  task: TaskRef;
  found: Found[];
}

/** The tasks that told of these, each with what it told; what no task told of stands last. */
export function byTask(found: Found[]): { tellers: Teller[]; others: Found[] } {
  const tellers = new Map<string, Teller>();
  for (const one of found)
    for (const task of one.tasks) {
      const teller = tellers.get(task.id) ?? { task, found: [] };
      teller.found.push(one);
      tellers.set(task.id, teller);
    }
  return { tellers: [...tellers.values()], others: found.filter((one) => one.tasks.length === 0) };
}

/** Two that contradict each other are both in doubt, and looked at together, once. */
export function pairsOnce(items: Schemas["ToCurate"][]): Schemas["ToCurate"][] {
  const seen = new Set<string>();
  return items.filter(({ node, other }) => {
    const pair = [node.id, other?.id ?? ""].sort().join(" ");
    if (seen.has(pair)) return false;
    seen.add(pair);
    return true;
  });
}
