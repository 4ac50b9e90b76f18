/** What only the task page reads. Events keep all of it true, as it stands under the task's key. */
import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { api, data, type Event } from "@/api/client";

const LIFE_MS = 15_000;
const PAGE = 1000;
const PAGES = 10;

export interface EventLog {
  items: Event[];
  more: boolean;
}

const path = (id: string) => ({ params: { path: { task_id: id } } });

export const taskQueries = {
  /** With what the board knows besides: when the agent was last heard of, and the rounds. */
  card: (id: string, live: boolean) =>
    queryOptions({
      queryKey: ["task", id, "card"],
      queryFn: () => data(api.GET("/api/v1/board", { params: { query: { task: [id] } } })),
      select: (board) => board.cards[0] ?? null,
      refetchInterval: live ? LIFE_MS : false,
      placeholderData: keepPreviousData,
    }),
  history: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "history"],
      queryFn: () => data(api.GET("/api/v1/tasks/{task_id}/history", path(id))),
    }),
  documents: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "documents"],
      queryFn: () => data(api.GET("/api/v1/tasks/{task_id}/documents", path(id))),
    }),
  difference: (id: string, name: string, since: number, to: number) =>
    queryOptions({
      queryKey: ["task", id, "documents", name, since, to],
      // An answer without a body, when nothing changed, is no text to the client.
      queryFn: async () =>
        (await data(
          api.GET("/api/v1/tasks/{task_id}/documents/{name}/diff", {
            params: { path: { task_id: id, name }, query: { from: since, to } },
            parseAs: "text",
          }),
        )) ?? "",
      staleTime: Number.POSITIVE_INFINITY,
    }),
  snapshots: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "snapshots"],
      queryFn: () => data(api.GET("/api/v1/tasks/{task_id}/snapshots", path(id))),
    }),
  checks: (id: string, run: string) =>
    queryOptions({
      queryKey: ["task", id, "checks", run],
      queryFn: () =>
        data(api.GET("/api/v1/runs/{run_id}/checks", { params: { path: { run_id: run } } })),
    }),
  stages: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "stages"],
      queryFn: () => data(api.GET("/api/v1/tasks/{task_id}/context", path(id))),
    }),
  given: (id: string, run: string) =>
    queryOptions({
      queryKey: ["task", id, "stages", run],
      queryFn: () =>
        data(
          api.GET("/api/v1/tasks/{task_id}/context/{run_id}", {
            params: { path: { task_id: id, run_id: run } },
          }),
        ),
    }),
  agents: (project: string) =>
    queryOptions({
      queryKey: ["agents", project],
      queryFn: () => data(api.GET("/api/v1/agents", { params: { query: { project } } })),
    }),
  /** The log only grows, so that what was read is kept and only what follows is asked for. */
  log: (client: QueryClient, id: string) =>
    queryOptions({
      queryKey: ["task", id, "log"],
      queryFn: async (): Promise<EventLog> => {
        const known = client.getQueryData<EventLog>(["task", id, "log"])?.items ?? [];
        const items = [...known];
        for (let page = 0; page < PAGES; page++) {
          const after = items.at(-1)?.seq ?? 0;
          const found = await data(
            api.GET("/api/v1/tasks/{task_id}/events", {
              params: { path: { task_id: id }, query: { after_seq: after, limit: PAGE } },
            }),
          );
          items.push(...found.items);
          if (found.next === null) return { items, more: false };
        }
        return { items, more: true };
      },
      structuralSharing: false,
    }),
  /** Tasks beside this one, as the list of tasks shows them. */
  neighbours: (project?: string) =>
    queryOptions({
      queryKey: ["tasks", "neighbours", project ?? ""],
      queryFn: () => data(api.GET("/api/v1/tasks", { params: { query: { project, limit: 200 } } })),
    }),
};
