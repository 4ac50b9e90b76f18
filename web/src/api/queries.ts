import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data } from "./client";

/** Everything that pages read, each under one key. */
export const queries = {
  me: () => queryOptions({ queryKey: ["me"], queryFn: () => data(api.GET("/api/v1/me")) }),
  projects: () =>
    queryOptions({ queryKey: ["projects"], queryFn: () => data(api.GET("/api/v1/projects")) }),
  pipelines: () =>
    queryOptions({ queryKey: ["pipelines"], queryFn: () => data(api.GET("/api/v1/pipelines")) }),
  pipeline: (id: string, version?: number) =>
    queryOptions({
      queryKey: ["pipeline", id, version ?? "newest"],
      queryFn: () =>
        data(
          api.GET("/api/v1/pipelines/{pipeline_id}", {
            params: { path: { pipeline_id: id }, query: { version } },
          }),
        ),
      staleTime: version === undefined ? 0 : Number.POSITIVE_INFINITY,
    }),
  inbox: (project?: string) =>
    infiniteQueryOptions({
      queryKey: ["inbox", "pages", project ?? ""],
      queryFn: ({ pageParam }) =>
        data(
          api.GET("/api/v1/prompts", {
            params: { query: { project, limit: 100, cursor: pageParam } },
          }),
        ),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (page) => page.next ?? undefined,
    }),
  /** How many questions are open. */
  waiting: () =>
    queryOptions({
      queryKey: ["inbox", "count"],
      queryFn: async () =>
        (await data(api.GET("/api/v1/prompts", { params: { query: { limit: 1 } } }))).total,
    }),
  prompt: (id: string) =>
    queryOptions({
      queryKey: ["prompt", id],
      queryFn: () =>
        data(api.GET("/api/v1/prompts/{prompt_id}", { params: { path: { prompt_id: id } } })),
    }),
  task: (id: string) =>
    queryOptions({
      queryKey: ["task", id],
      queryFn: () =>
        data(api.GET("/api/v1/tasks/{task_id}", { params: { path: { task_id: id } } })),
    }),
  events: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "events"],
      queryFn: () =>
        data(
          api.GET("/api/v1/tasks/{task_id}/events", {
            params: { path: { task_id: id }, query: { limit: 1000 } },
          }),
        ),
      placeholderData: keepPreviousData,
    }),
  today: (project?: string) =>
    queryOptions({
      queryKey: ["cost", "today", project ?? ""],
      queryFn: () =>
        data(api.GET("/api/v1/cost", { params: { query: { since: "1d", project, limit: 1 } } })),
      refetchInterval: 60_000,
    }),
  liveRuns: () =>
    queryOptions({
      queryKey: ["runs", "live"],
      queryFn: () =>
        data(api.GET("/api/v1/runs", { params: { query: { live: true, limit: 200 } } })),
    }),
};
