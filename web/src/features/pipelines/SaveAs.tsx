import { useState } from "react";
import { toast } from "sonner";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input } from "@/kit/Field";

/** A pipeline under an id of its own: those of the product and of projects' files stay as they are. */
export function SaveAs({
  open,
  onClose,
  suggested,
  name,
  taken,
  busy,
  onSave,
  file,
}: {
  open: boolean;
  onClose: () => void;
  suggested: string;
  name: string;
  taken: (id: string) => boolean;
  busy: boolean;
  onSave: (id: string, name: string) => void;
  /** The document of a project's file, which can be carried there by hand. */
  file: string | null;
}) {
  const [id, setId] = useState(suggested);
  const [title, setTitle] = useState(`My ${name.toLowerCase()}`);
  const error = taken(id)
    ? `"${id}" is taken.`
    : /^[a-z0-9_-]{1,64}$/.test(id)
      ? undefined
      : "An id has small letters, digits, _ and -, at most 64.";
  return (
    <Dialog open={open} onClose={onClose} title="Save as">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!error) onSave(id, title);
        }}
      >
        <p className="text-ink-2">
          {file === null
            ? "This one comes with the product and stays as it is. Yours is saved for all projects, and new tasks can choose it."
            : "This one is a file of its project, and is changed there. Save a pipeline for all projects, or copy the JSON into the file."}
        </p>
        <Field label="Id" error={error}>
          {(field) => (
            <Input
              id={field}
              autoFocus
              className="font-mono"
              value={id}
              onChange={(event) => setId(event.target.value)}
            />
          )}
        </Field>
        <Field label="Name">
          {(field) => (
            <Input
              id={field}
              required
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          {file !== null && (
            <Button
              onClick={() =>
                void navigator.clipboard?.writeText(file).then(() => toast.success("Copied."))
              }
            >
              Copy the JSON
            </Button>
          )}
          <Button look="primary" type="submit" disabled={busy || error !== undefined}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
