import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Schemas, type TaskView } from "@/api/client";
import { consented } from "./unmerged";

export const told = (error: unknown) => {
  const { message, details } = error as ApiError;
  return [message, ...(details ?? [])].join(" ");
};

/** Everything that a person can do to a task; refusals are told in the server's words. */
export function useActions(view: TaskView) {
  const client = useQueryClient();
  const id = view.task.id;
  const path = { task_id: id };
  const common = {
    onSettled: () => client.invalidateQueries({ queryKey: ["task", id] }),
    onError: (error: Error) => void toast.error(told(error)),
  };
  const move = useMutation({
    ...common,
    mutationFn: (form: Schemas["MoveForm"]) =>
      consented((consent) =>
        data(
          api.POST("/api/v1/tasks/{task_id}/move", {
            params: { path },
            headers: once(),
            body: { expect_version: view.task.version, ...form, ...consent },
          }),
        ),
      ),
    onSuccess: (moved) => {
      if (moved.stopping_run)
        toast("The agent is being stopped first; the task moves when it has ended.");
    },
  });
  const start = useMutation({
    ...common,
    mutationFn: () =>
      data(
        api.POST("/api/v1/tasks/{task_id}/start", {
          params: { path },
          headers: once(),
          body: { expect_version: view.task.version },
        }),
      ),
    onSuccess: (started) => {
      if (started.waits) toast(started.waits);
    },
  });
  const run = useMutation({
    ...common,
    mutationFn: (form: Schemas["RunForm"]) =>
      data(
        api.POST("/api/v1/tasks/{task_id}/runs", { params: { path }, headers: once(), body: form }),
      ),
    onSuccess: (started) => toast(`The agent starts (${started.mode}).`),
  });
  const retry = useMutation({
    ...common,
    mutationFn: (run_id: string) =>
      data(
        api.POST("/api/v1/runs/{run_id}/retry", { params: { path: { run_id } }, headers: once() }),
      ),
    onSuccess: () => toast("The agent is tried again now."),
  });
  const stop = useMutation({
    ...common,
    mutationFn: (run_id: string) =>
      data(
        api.POST("/api/v1/runs/{run_id}/stop", { params: { path: { run_id } }, headers: once() }),
      ),
    onSuccess: () => toast("The agent is being stopped."),
  });
  return { move, start, run, retry, stop };
}

export type Actions = ReturnType<typeof useActions>;
