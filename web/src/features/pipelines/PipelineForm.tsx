import { Field, Input, TextArea } from "@/kit/Field";
import type { Document } from "./edits";
import type { Shape } from "./shape";

/** What is said of the pipeline as a whole. */
export function PipelineForm({
  shape,
  change,
}: {
  shape: Shape;
  change: (act: (document: Document) => Document) => void;
}) {
  return (
    <form className="space-y-3" onSubmit={(event) => event.preventDefault()}>
      <Field label="Name">
        {(field) => (
          <Input
            id={field}
            value={shape.name}
            onChange={(event) => change((before) => ({ ...before, name: event.target.value }))}
          />
        )}
      </Field>
      <Field label="Description">
        {(field) => (
          <TextArea
            id={field}
            value={shape.description}
            onChange={(event) =>
              change((before) => ({ ...before, description: event.target.value }))
            }
          />
        )}
      </Field>
    </form>
  );
}
