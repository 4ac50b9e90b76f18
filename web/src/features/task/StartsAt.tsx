import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { api, data, once, type TaskView } from "@/api/client";
import { Button } from "@/kit/Button";

/** When the engine starts the task, and that it shall not. */
export function StartsAt({ task }: { task: TaskView["task"] }) {
  const client = useQueryClient();
  const take = useMutation({
    mutationFn: () =>
      data(
        api.PUT("/api/v1/tasks/{task_id}/start-time", {
          params: { path: { task_id: task.id } },
          headers: once(),
          body: { at: null },
        }),
      ),
    onError: (error) => toast.error(error.message),
    onSettled: () => client.invalidateQueries({ queryKey: ["tasks"] }),
  });
  if (!task.starts_at) return null;
  return (
    <span className="flex flex-wrap items-center gap-2">
      <time dateTime={task.starts_at}>{new Date(task.starts_at).toLocaleString()}</time>
      <Button size="small" look="quiet" onClick={() => take.mutate()}>
        Do not
      </Button>
    </span>
  );
}
