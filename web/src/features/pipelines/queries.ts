import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";

/** What the pages of pipelines read, each under one key. */
export const pipelineQueries = {
  parts: (project?: string) =>
    queryOptions({
      queryKey: ["parts", project ?? null],
      queryFn: () => data(api.GET("/api/v1/parts", { params: { query: { project } } })),
    }),
  versions: (id: string) =>
    queryOptions({
      queryKey: ["pipeline", id, "versions"],
      queryFn: () =>
        data(
          api.GET("/api/v1/pipelines/{pipeline_id}/versions", {
            params: { path: { pipeline_id: id } },
          }),
        ),
    }),
  document: (id: string, version: number) =>
    queryOptions({
      queryKey: ["pipeline", id, "document", version],
      queryFn: () =>
        data(
          api.GET("/api/v1/pipelines/{pipeline_id}/document", {
            params: { path: { pipeline_id: id }, query: { version } },
          }),
        ),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  files: (project: string) =>
    queryOptions({
      queryKey: ["pipelines", "files", project],
      queryFn: () =>
        data(
          api.GET("/api/v1/projects/{project_id}/pipelines", {
            params: { path: { project_id: project } },
          }),
        ),
    }),
  lint: (form: Schemas["PipelineForm"]) =>
    queryOptions({
      queryKey: ["lint", form],
      queryFn: () => data(api.POST("/api/v1/pipelines/lint", { body: form })),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      placeholderData: keepPreviousData,
    }),
  /** How many tasks stand at each status; of older versions too. */
  counts: (id: string, project?: string) =>
    queryOptions({
      queryKey: ["counts", id, project ?? null],
      queryFn: async () => {
        const board = await data(api.GET("/api/v1/board", { params: { query: { project } } }));
        const lane = board.lanes.find((one) => one.id === id);
        return new Map(lane?.columns.map((one) => [one.id, one.count]));
      },
    }),
  history: (task: string) =>
    queryOptions({
      queryKey: ["task", task, "history"],
      queryFn: () =>
        data(api.GET("/api/v1/tasks/{task_id}/history", { params: { path: { task_id: task } } })),
      placeholderData: keepPreviousData,
    }),
};

/** The project whose own pipeline this is: what stands behind the `@`. */
export const ownerOf = (id: string): string | undefined => id.split("@")[1];
export const plainId = (id: string): string => id.split("@")[0] ?? id;
