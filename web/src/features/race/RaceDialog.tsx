import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, api, data, once, type Schemas, type TaskView } from "@/api/client";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { BLANK, RaceFields, raceOf } from "./RaceFields";

/** Has several agents implement a task. */
export function RaceDialog({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const client = useQueryClient();
  const [value, setValue] = useState(BLANK);
  const id = view.task.id;
  const race = raceOf(value);
  const start = useMutation({
    mutationFn: (body: Schemas["RaceForm"]) =>
      data(
        api.POST("/api/v1/tasks/{task_id}/race", {
          params: { path: { task_id: id } },
          headers: once(),
          body,
        }),
      ),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["task", id] }),
  });
  const error = start.error as ApiError | null;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Several agents side by side"
      description="Each implements the task in a workspace of its own; then one is picked. All of them cost."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (race) start.mutate(race);
        }}
      >
        <RaceFields project={view.project.id} value={value} onChange={setValue} />
        {error && (
          <p role="alert" className="text-bad">
            {error.message} {error.details?.join(" ")}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!race || start.isPending}>
            Start them
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
