import { queryOptions } from "@tanstack/react-query";
import { api, data, type Schemas } from "@/api/client";

export type Race = Schemas["Race"];
export type Contender = Schemas["RaceContender"];

/** They stand under the task's key, so that events keep them true. */
export const raceQueries = {
  race: (id: string) =>
    queryOptions({
      queryKey: ["task", id, "race"],
      queryFn: () =>
        data(api.GET("/api/v1/tasks/{task_id}/race", { params: { path: { task_id: id } } })),
    }),
  diff: (id: string, run: string) =>
    queryOptions({
      queryKey: ["task", id, "race", run, "diff"],
      // An answer without a body, when nothing changed, is no text to the client.
      queryFn: async () =>
        (await data(
          api.GET("/api/v1/tasks/{task_id}/race/{run_id}/diff", {
            params: { path: { task_id: id, run_id: run } },
            parseAs: "text",
          }),
        )) ?? "",
    }),
};
