import { Trash2 } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Field, Input, Select } from "@/kit/Field";
import { clean } from "@/kit/text";
import { type Document, removeTransition, setTransition } from "./edits";
import { PartsForm } from "./PartsForm";
import { ANY, ORIGIN, place, type Selected, type Shape, TRIGGERS, type Transition } from "./shape";

export function TransitionForm({
  one,
  index,
  shape,
  parts,
  change,
  onSelect,
}: {
  one: Transition;
  index: number;
  shape: Shape;
  parts: Schemas["Parts"] | undefined;
  change: (act: (document: Document) => Document) => void;
  onSelect: (selected: Selected | null) => void;
}) {
  const set = (part: Record<string, unknown>) =>
    change((before) => setTransition(before, index, part));
  const outcomes = parts?.outcomes ?? [];
  return (
    <form className="space-y-3" onSubmit={(event) => event.preventDefault()}>
      <h2 className="text-[15px] font-semibold">Transition</h2>
      <div className="grid grid-cols-2 gap-3">
        <End
          label="From"
          value={one.from}
          extra={ANY}
          shape={shape}
          onChange={(from) => set({ from })}
        />
        <End
          label="To"
          value={one.to}
          extra={ORIGIN}
          shape={shape}
          onChange={(to) => set({ to })}
        />
        <Field label="Trigger">
          {(field) => (
            <Select
              id={field}
              className="w-full"
              value={one.trigger.type}
              onChange={(event) => {
                const type = event.target.value;
                set({
                  trigger:
                    type === "agent_outcome"
                      ? { type, outcome: outcomes[0]?.name ?? "pr_ready" }
                      : { type },
                });
              }}
            >
              {TRIGGERS.map((type) => (
                <option key={type} value={type}>
                  {type.replaceAll("_", " ")}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {one.trigger.type === "agent_outcome" && (
          <Field label="Outcome">
            {(field) => (
              <Select
                id={field}
                className="w-full"
                value={one.trigger.outcome ?? ""}
                onChange={(event) =>
                  set({ trigger: { type: "agent_outcome", outcome: event.target.value } })
                }
              >
                {!outcomes.some((known) => known.name === one.trigger.outcome) && (
                  <option value={one.trigger.outcome ?? ""}>
                    {clean(one.trigger.outcome ?? "")}
                  </option>
                )}
                {outcomes.map((known) => (
                  <option key={known.name} value={known.name}>
                    {clean(known.name)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
      </div>
      <Field label="Label" note="What people see who make this move by hand.">
        {(field) => (
          <Input
            id={field}
            placeholder={`to ${one.to}`}
            value={one.title === `to ${one.to}` ? "" : one.title}
            onChange={(event) => set({ label: event.target.value })}
          />
        )}
      </Field>
      <Field label="Id">
        {(field) => (
          <Input
            id={field}
            className="font-mono"
            value={one.id}
            onChange={(event) => set({ id: event.target.value })}
          />
        )}
      </Field>
      <PartsForm
        title="Guards"
        add="Add a guard…"
        known={parts?.guards ?? []}
        rows={one.guards.map((guard) => ({
          type: guard.type,
          params: guard.params,
          ...(guard.not ? { not: true } : {}),
        }))}
        onChange={(guards) => set({ guards })}
        extra={(row, put) => (
          <label className="flex items-center gap-1.5 text-xs">
            <input
              type="checkbox"
              checked={row.not === true}
              onChange={(event) => put({ ...row, not: event.target.checked || undefined })}
            />
            not
          </label>
        )}
      />
      <PartsForm
        title="Hooks"
        add="Add a hook…"
        known={parts?.hooks ?? []}
        rows={one.hooks.map((hook) => ({
          type: hook.type,
          params: hook.params,
          ...(hook.policy ? { policy: hook.policy } : {}),
        }))}
        onChange={(hooks) => set({ hooks })}
        extra={(row, put) => (
          <Select
            aria-label={`Policy of ${row.type}`}
            className="h-7 text-xs"
            value={String(row.policy ?? "")}
            onChange={(event) => put({ ...row, policy: event.target.value || undefined })}
          >
            <option value="">as usual</option>
            <option value="required">required</option>
            <option value="best_effort">best effort</option>
            <option value="fire_and_forget">fire and forget</option>
          </Select>
        )}
      />
      <Button
        look="danger"
        onClick={() => {
          change((before) => removeTransition(before, index));
          onSelect(null);
        }}
      >
        <Trash2 size={14} /> Remove
      </Button>
    </form>
  );
}

function End({
  label,
  value,
  extra,
  shape,
  onChange,
}: {
  label: string;
  value: string;
  extra: string;
  shape: Shape;
  onChange: (value: string) => void;
}) {
  const known = [...shape.statuses.map((one) => one.id), extra];
  return (
    <Field label={label}>
      {(field) => (
        <Select
          id={field}
          className="w-full"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {!known.includes(value) && <option value={value}>{clean(value) || "nothing"}</option>}
          {known.map((id) => (
            <option key={id} value={id}>
              {clean(place(shape, id))}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
