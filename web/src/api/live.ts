/** Keeps what was read true: events say which answers are stale. */
import type { QueryClient } from "@tanstack/react-query";
import { onEvent, onResync } from "./events";

const GATHER_MS = 150;
const TOOL = "tool";
const ABOUT_KNOWLEDGE = ["knowledge.", "blocker.", "handoff."];

/** Pages that hold more than queries (the board's cards) hear here which tasks changed. */
const changed = new Set<(tasks: Set<string>) => void>();
export function onTasksChanged(tell: (tasks: Set<string>) => void): () => void {
  changed.add(tell);
  return () => changed.delete(tell);
}

export function keepTrue(client: QueryClient): () => void {
  let tasks = new Set<string>();
  /** Tasks whose agents called tools: that changes nothing but their logs. */
  let used = new Set<string>();
  let learned = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const now = tasks;
    const logs = used;
    tasks = new Set();
    used = new Set();
    for (const id of logs) void client.invalidateQueries({ queryKey: ["task", id, "log"] });
    if (now.size === 0) return;
    for (const id of now) void client.invalidateQueries({ queryKey: ["task", id] });
    for (const key of ["inbox", "prompt", "runs"])
      void client.invalidateQueries({ queryKey: [key] });
    for (const key of ["cost", "stats", "performance", "tasks"])
      void client.invalidateQueries({ queryKey: [key], refetchType: "none" });
    if (learned) void client.invalidateQueries({ queryKey: ["knowledge"] });
    learned = false;
    for (const tell of changed) tell(now);
  };
  const off = onEvent((event) => {
    (event.category === TOOL ? used : tasks).add(event.task_id);
    learned ||= ABOUT_KNOWLEDGE.some((kind) => event.type.startsWith(kind));
    timer ??= setTimeout(flush, GATHER_MS);
  });
  const offResync = onResync(() => void client.invalidateQueries());
  return () => {
    off();
    offResync();
    clearTimeout(timer);
  };
}
