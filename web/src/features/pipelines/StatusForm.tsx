import { Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/kit/Button";
import { Field, Input, Select } from "@/kit/Field";
import { addTransition, type Document, removeStatus, setStatus } from "./edits";
import { CATEGORIES, type Selected, type Shape, type Status } from "./shape";

const PROMPTS = ["info_request", "review", "document_review", "split_proposal", "choice"];

export function StatusForm({
  status,
  index,
  change,
  shape,
  onSelect,
}: {
  status: Status;
  index: number;
  shape: Shape;
  change: (act: (document: Document) => Document) => void;
  onSelect: (selected: Selected | null) => void;
}) {
  const set = (part: Record<string, unknown>) => change((before) => setStatus(before, index, part));
  const taken = shape.statuses.filter((_, at) => at !== index).map((one) => one.id);
  const waits = status.category === "waiting" || status.category === "review";
  const plain = status.title === status.id.replaceAll("_", " ");
  return (
    <form className="space-y-3" onSubmit={(event) => event.preventDefault()}>
      <h2 className="text-[15px] font-semibold">Status</h2>
      <IdField key={status.id} id={status.id} taken={taken} onCommit={(id) => set({ id })} />
      <Field label="Title">
        {(field) => (
          <Input
            id={field}
            placeholder={status.id.replaceAll("_", " ")}
            value={plain ? "" : status.title}
            onChange={(event) => set({ label: event.target.value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-2 gap-3">
        <Field label="Category">
          {(field) => (
            <Select
              id={field}
              className="w-full"
              value={status.category}
              onChange={(event) => set({ category: event.target.value })}
            >
              {CATEGORIES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Colour">
          {(field) => (
            <span className="flex gap-1.5">
              <input
                type="color"
                aria-label="Choose a colour"
                className="h-8 w-9 rounded-md border border-line-strong bg-raised p-0.5 max-sm:h-11"
                value={
                  /^#[0-9a-f]{6}$/i.test(status.color ?? "") ? (status.color ?? "") : "#888888"
                }
                onChange={(event) => set({ color: event.target.value })}
              />
              <Input
                id={field}
                placeholder="#6b7280"
                value={status.color ?? ""}
                onChange={(event) => set({ color: event.target.value })}
              />
            </span>
          )}
        </Field>
        <Field label="Position" note="On the board, from the left.">
          {(field) => (
            <Input
              id={field}
              type="number"
              value={status.position}
              onChange={(event) => set({ position: Number(event.target.value) })}
            />
          )}
        </Field>
        <Field label="Asks" note={waits ? undefined : "Only where it waits for a person."}>
          {(field) => (
            <Select
              id={field}
              className="w-full"
              value={status.prompt?.type ?? ""}
              onChange={(event) =>
                set({
                  prompt: event.target.value
                    ? { ...(status.prompt ? raw(status.prompt) : {}), type: event.target.value }
                    : undefined,
                })
              }
            >
              <option value="">nothing of its own</option>
              {PROMPTS.map((one) => (
                <option key={one} value={one}>
                  {one.replaceAll("_", " ")}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <div className="flex gap-2 pt-1">
        <Button
          onClick={() => {
            change((before) => addTransition(before, status.id, status.id));
            onSelect({ kind: "transition", index: shape.transitions.length });
          }}
        >
          Add a way out
        </Button>
        <Button
          look="danger"
          onClick={() => {
            change((before) => removeStatus(before, index));
            onSelect(null);
          }}
        >
          <Trash2 size={14} /> Remove
        </Button>
      </div>
    </form>
  );
}

/** Taken when it is whole: on its way it may be the name of another status. */
function IdField({
  id,
  taken,
  onCommit,
}: {
  id: string;
  taken: string[];
  onCommit: (id: string) => void;
}) {
  const [typed, setTyped] = useState(id);
  const error = taken.includes(typed)
    ? "Another status has this id."
    : typed === ""
      ? "A status has an id."
      : undefined;
  const commit = () => {
    if (!error && typed !== id) onCommit(typed);
  };
  return (
    <Field label="Id" note="Transitions and guards that name it follow." error={error}>
      {(field) => (
        <Input
          id={field}
          className="font-mono"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit();
          }}
        />
      )}
    </Field>
  );
}

/** Only what was written: a document has no nulls. */
function raw(prompt: NonNullable<Status["prompt"]>) {
  return {
    ...(prompt.expires_after !== null ? { expires_after: prompt.expires_after } : {}),
    ...(prompt.roles.length > 0 ? { roles: prompt.roles } : {}),
  };
}
