/** What the board shows, from what the server told and what the reader asked for. */
import type { Schemas } from "@/api/client";

export type BoardData = Schemas["Board"];
export type Card = Schemas["Card"];
export type Column = Schemas["Column"];
export type Lane = Schemas["Lane"];
export type Target = Schemas["Target"];

export interface Filters {
  q?: string;
  priority?: string;
  tag?: string;
  agent?: string;
  waiting?: string;
}

type StartResult = Schemas["StartResult"];

/** What starting many tasks led to: one sentence, and a sentence for each that was refused. */
export function startsOf(items: StartResult[]): { summary: string; refused: string[] } {
  const of = (state: StartResult["state"]) => items.filter((one) => one.state === state);
  const waiting = of("waiting").length;
  const told = [
    of("started").length && `${of("started").length} started`,
    waiting && `${waiting} waiting for dependencies`,
    of("scheduled").length && `${of("scheduled").length} scheduled`,
  ].filter(Boolean);
  return {
    summary: told.length > 0 ? `${told.join(", ")}.` : "",
    refused: of("refused").map((one) => `"${one.task.title}" was not started: ${one.reason}`),
  };
}

/** A move that was asked for and not yet told by the server. */
export type Pending = ReadonlyMap<string, { to: string; version: number }>;

const WEIGHT: Record<string, number> = { urgent: 0, high: 1, medium: 2, low: 3 };

export function fits(card: Card, filters: Filters): boolean {
  if (filters.priority && card.priority !== filters.priority) return false;
  if (filters.tag && !card.tags.includes(filters.tag)) return false;
  if (filters.agent && card.run?.agent !== filters.agent) return false;
  if (filters.waiting && !needsYou(card)) return false;
  if (!filters.q) return true;
  const text = `${card.id} ${card.title} ${card.tags.join(" ")}`.toLowerCase();
  return filters.q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function needsYou(card: Card): boolean {
  return card.prompt !== null;
}

/** Where a card is shown: where it was moved to, until the server says something newer. */
export function placeOf(card: Card, pending: Pending): string {
  const moved = pending.get(card.id);
  return moved && card.version <= moved.version ? moved.to : card.status;
}

/** The lane that is shown: the one asked for, or the one with most to do. */
export function laneOf(board: BoardData, wanted: string | undefined): Lane | undefined {
  const asked = board.lanes.find((lane) => lane.id === wanted);
  if (asked) return asked;
  const open = new Map<string, number>();
  for (const card of board.cards)
    if (card.category !== "final")
      open.set(card.pipeline_id, (open.get(card.pipeline_id) ?? 0) + 1);
  return [...board.lanes].sort((a, b) => (open.get(b.id) ?? 0) - (open.get(a.id) ?? 0))[0];
}

/** Cards by column: those that wait for a person first, then by priority, the oldest change first. */
export function arranged(
  board: BoardData,
  lane: Lane,
  filters: Filters,
  pending: Pending,
): Map<string, Card[]> {
  const columns = new Map<string, Card[]>(lane.columns.map((column) => [column.id, []]));
  for (const card of board.cards)
    if (card.pipeline_id === lane.id && fits(card, filters))
      columns.get(placeOf(card, pending))?.push(card);
  for (const column of lane.columns) {
    const cards = columns.get(column.id) ?? [];
    if (column.category === "final") cards.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
    else cards.sort(before);
  }
  return columns;
}

function before(a: Card, b: Card): number {
  const you = Number(needsYou(b)) - Number(needsYou(a));
  if (you) return you;
  const weight = (WEIGHT[a.priority] ?? 2) - (WEIGHT[b.priority] ?? 2);
  if (weight) return weight;
  return a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : a.id < b.id ? -1 : 1;
}

/** The tasks whose cards name a changed task as a dependency. */
export function dependents(cards: Card[], changed: ReadonlySet<string>): string[] {
  return cards
    .filter((card) => card.waits_for.some((one) => changed.has(one.id)))
    .map((card) => card.id);
}

/** The board after some of its tasks were read again; a task that is gone has no card there. */
export function patched(board: BoardData, asked: Set<string>, news: BoardData): BoardData {
  return {
    lanes: news.lanes,
    finished: news.finished,
    cards: [...news.cards, ...board.cards.filter((card) => !asked.has(card.id))],
  };
}

export function choices(board: BoardData): {
  tags: string[];
  agents: string[];
  priorities: string[];
} {
  const tags = new Set<string>();
  const agents = new Set<string>();
  const priorities = new Set<string>();
  for (const card of board.cards) {
    for (const tag of card.tags) tags.add(tag);
    if (card.run?.agent) agents.add(card.run.agent);
    priorities.add(card.priority);
  }
  const known = Object.keys(WEIGHT);
  return {
    tags: [...tags].sort(),
    agents: [...agents].sort(),
    priorities: [...priorities].sort((a, b) => known.indexOf(a) - known.indexOf(b)),
  };
}
