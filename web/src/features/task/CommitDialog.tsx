import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, type Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input } from "@/kit/Field";
import { clean } from "@/kit/text";

/** A version of a document becomes a file on the task's branch. */
export function CommitDialog({
  task,
  document,
  onClose,
}: {
  task: string;
  document: Schemas["Document"];
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [path, setPath] = useState("");
  const [replace, setReplace] = useState(false);
  const commit = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/tasks/{task_id}/documents/{name}/commit", {
          params: { path: { task_id: task, name: document.name } },
          body: { version: document.version, path: path.trim() || null, replace },
        }),
      ),
    onSuccess: (done) => {
      void client.invalidateQueries({ queryKey: ["task", task] });
      toast.success(
        `${clean(done.path)} is on ${clean(done.branch)}${done.new ? "" : " already"}.`,
      );
      onClose();
    },
  });
  const error = commit.error as ApiError | null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Commit version ${document.version} of the ${clean(document.name)}`}
      description="To the task's branch, never to its base."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          commit.mutate();
        }}
      >
        <Field label="Path" note="From the top of the repository; by the task's title if empty.">
          {(id) => (
            <Input
              id={id}
              autoFocus
              placeholder={`docs/${clean(document.name)}s/….md`}
              value={path}
              onChange={(event) => setPath(event.target.value)}
            />
          )}
        </Field>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={replace}
            onChange={(event) => setReplace(event.target.checked)}
          />
          Replace what the branch has there
        </label>
        {error && (
          <p role="alert" className="text-bad">
            {clean([error.message, ...error.details].join(" "))}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={commit.isPending}>
            Commit
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
