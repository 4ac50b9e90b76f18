import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { toast } from "sonner";
import { api, data, once, type TaskView } from "@/api/client";
import { clean, plural } from "@/kit/text";
import { Sure } from "./Sure";
import { told } from "./useActions";

export function DeleteDialog({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [force, setForce] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      data(
        api.DELETE("/api/v1/tasks/{task_id}", {
          params: { path: { task_id: view.task.id }, query: { force, stop: view.run !== null } },
          headers: once(),
        }),
      ),
    onSuccess: (gone) => {
      const kept = gone.branches.length
        ? ` ${plural(gone.branches.length, "branch", "branches")} stay.`
        : "";
      toast(`The task was deleted.${kept}`);
      client.removeQueries({ queryKey: ["task", view.task.id] });
      void navigate({ to: "/board" });
    },
  });
  return (
    <Sure
      title="Delete this task for ever?"
      action="Delete"
      busy={remove.isPending}
      onClose={onClose}
      onSure={() => remove.mutate()}
    >
      <p>
        <b className="font-medium text-ink">{clean(view.task.title)}</b>, its history and its
        transcripts are deleted. Branches, commits and snapshots stay.
      </p>
      {view.run && <p>The agent that is at work is stopped first.</p>}
      {remove.error && (
        <p role="alert" className="text-bad">
          {told(remove.error)}
        </p>
      )}
      {remove.error && (
        <label className="flex min-h-11 items-center gap-2 sm:min-h-0">
          <input type="checkbox" checked={force} onChange={(e) => setForce(e.target.checked)} />
          Delete it all the same; tasks that depend on it no longer wait for it.
        </label>
      )}
    </Sure>
  );
}
