import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";

/** What tasks do on a pipeline: where they are, how long they stay, which ways they take. */
export interface Counts {
  statuses: Map<string, Schemas["StatusCount"]>;
  transitions: Map<string, number>;
}

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
  counts: (id: string, project?: string) =>
    queryOptions({
      queryKey: ["counts", id, project ?? null],
      queryFn: async (): Promise<Counts | null> => {
        const found = await data(
          api.GET("/api/v1/pipelines/{pipeline_id}/counts", {
            params: { path: { pipeline_id: id }, query: { project } },
          }),
        );
        // Within a project, its own pipeline comes before the one of all projects.
        if (found.pipeline_id !== id) return null;
        return {
          statuses: new Map(found.statuses.map((one) => [one.status, one])),
          transitions: new Map(found.transitions.map((one) => [one.transition_id, one.times])),
        };
      },
      // Counted over every move there was, so not with every event.
      refetchInterval: 5_000,
    }),
  path: (task: string) =>
    queryOptions({
      queryKey: ["task", task, "path"],
      queryFn: () =>
        data(api.GET("/api/v1/tasks/{task_id}/path", { params: { path: { task_id: task } } })),
      placeholderData: keepPreviousData,
    }),
};

/** The project whose own pipeline this is: what stands behind the `@`. */
export const ownerOf = (id: string): string | undefined => id.split("@")[1];
export const plainId = (id: string): string => id.split("@")[0] ?? id;
