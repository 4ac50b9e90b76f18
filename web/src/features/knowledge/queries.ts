/** What is known; events of handoffs, findings and blockers keep it true. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";

export type KnowledgeNode = Schemas["KnowledgeNode"];
export type Found = Schemas["FoundNode"];
export type NodeView = Schemas["NodeView"];
export type TaskRef = Schemas["TaskRef"];
export type Kind = KnowledgeNode["kind"];
export type State = KnowledgeNode["state"];

export interface Wanted {
  q: string;
  tags: string[];
  kind?: Kind;
  state?: State;
  file?: string;
  task?: string;
  project?: string;
}

const PAGE = 100;
const first = undefined as string | undefined;

export const knowledge = {
  search: ({ q, tags, kind, state, file, task, project }: Wanted) =>
    infiniteQueryOptions({
      queryKey: ["knowledge", "search", { q, tags, kind, state, file, task, project }],
      queryFn: ({ pageParam }) =>
        data(
          api.GET("/api/v1/knowledge/nodes", {
            params: {
              query: {
                q,
                tag: tags,
                kind: kind && [kind],
                state: state && [state],
                file: file ? [file] : undefined,
                task,
                project,
                limit: PAGE,
                cursor: pageParam,
              },
            },
          }),
        ),
      initialPageParam: first,
      getNextPageParam: (page) => page.next ?? undefined,
      placeholderData: (before) => before,
    }),
  tags: (project?: string) =>
    queryOptions({
      queryKey: ["knowledge", "tags", project ?? ""],
      queryFn: () => data(api.GET("/api/v1/knowledge/tags", { params: { query: { project } } })),
    }),
  node: (id: string) =>
    queryOptions({
      queryKey: ["knowledge", "node", id],
      queryFn: () =>
        data(api.GET("/api/v1/knowledge/nodes/{node_id}", { params: { path: { node_id: id } } })),
    }),
  queue: (project: string) =>
    queryOptions({
      queryKey: ["knowledge", "queue", project],
      queryFn: () => data(api.GET("/api/v1/projects/{project_id}/knowledge/queue", of(project))),
    }),
  graph: (project: string) =>
    queryOptions({
      queryKey: ["knowledge", "graph", project],
      queryFn: () => data(api.GET("/api/v1/projects/{project_id}/knowledge/graph", of(project))),
    }),
  map: (project: string, under: string) =>
    infiniteQueryOptions({
      queryKey: ["knowledge", "map", project, under],
      queryFn: ({ pageParam }) =>
        data(
          api.GET("/api/v1/projects/{project_id}/knowledge/map", {
            params: {
              path: { project_id: project },
              query: { under, limit: PAGE, cursor: pageParam },
            },
          }),
        ),
      initialPageParam: first,
      getNextPageParam: (page) => page.next ?? undefined,
      placeholderData: (before) => before,
    }),
  blockers: (project: string | undefined, all: boolean) =>
    queryOptions({
      queryKey: ["knowledge", "blockers", project ?? "", all],
      queryFn: () => data(api.GET("/api/v1/blockers", { params: { query: { project, all } } })),
      placeholderData: (before) => before,
    }),
  handoff: (task: string, run: string) =>
    queryOptions({
      queryKey: ["task", task, "handoff", run],
      queryFn: () =>
        data(api.GET("/api/v1/runs/{run_id}/handoff", { params: { path: { run_id: run } } })),
    }),
  told: (task: string) =>
    queryOptions({
      queryKey: ["task", task, "knowledge"],
      queryFn: () =>
        data(api.GET("/api/v1/tasks/{task_id}/knowledge", { params: { path: { task_id: task } } })),
    }),
};

const of = (project: string) => ({ params: { path: { project_id: project } } });
