/** The order of the inbox: what is shown, in which groups, and what comes next. */
import type { InboxItem, Schemas } from "@/api/client";
import { type Kind, kindOf } from "@/features/prompts/payloads";

/** Until when a question is out of the way, by its id. */
export type Snoozes = Record<string, number>;

/** What was read so far. A question that changed its place between two pages is on both. */
export function listed(pages: Schemas["Inbox"][]): InboxItem[] {
  const found = new Map(pages.flatMap((page) => page.items).map((one) => [one.prompt.id, one]));
  return [...found.values()];
}

export function parted(items: InboxItem[], snoozes: Snoozes, now: number) {
  const asleep = (one: InboxItem) => (snoozes[one.prompt.id] ?? 0) > now;
  return { open: items.filter((one) => !asleep(one)), snoozed: items.filter(asleep) };
}

export interface Group {
  kind: Kind | null;
  items: InboxItem[];
}

/** One group for each kind, in the order in which the kinds first come. */
export function grouped(items: InboxItem[], byKind: boolean): Group[] {
  if (!byKind) return items.length > 0 ? [{ kind: null, items }] : [];
  const groups = new Map<string, Group>();
  for (const item of items) {
    const kind = kindOf(item.prompt);
    const group = groups.get(kind.id) ?? { kind, items: [] };
    group.items.push(item);
    groups.set(kind.id, group);
  }
  return [...groups.values()];
}

/** The question that follows, or the one before at the end; undefined where none is left. */
export function nextAfter(ids: string[], id: string): string | undefined {
  const at = ids.indexOf(id);
  return at < 0 ? ids[0] : (ids[at + 1] ?? ids[at - 1]);
}

/** As far as there is something in that direction. */
export function stepped(ids: string[], id: string | undefined, by: 1 | -1): string | undefined {
  const at = id === undefined ? -1 : ids.indexOf(id);
  return at < 0 ? ids[0] : (ids[at + by] ?? id);
}

export function tomorrow(now: Date): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9).getTime();
}
