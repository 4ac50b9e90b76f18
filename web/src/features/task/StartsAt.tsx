import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { api, data, once, type TaskView } from "@/api/client";
import { Button } from "@/kit/Button";

/** When the engine starts the task, with a button that cancels it. */
export function StartsAt({ task }: { task: TaskView["task"] }) {
  const client = useQueryClient();
  const cancel = useMutation({
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
  const at = new Date(task.starts_at);
  return (
    <span className="flex flex-wrap items-center gap-2">
      {at.getTime() > Date.now() ? (
        <time dateTime={task.starts_at}>{at.toLocaleString()}</time>
      ) : (
        "When its dependencies are finished"
      )}
      <Button size="small" look="quiet" onClick={() => cancel.mutate()}>
        Cancel start
      </Button>
    </span>
  );
}
