import { Field, Input, Select } from "@/kit/Field";

export interface Entry {
  agent: string;
  model: string;
}

export const given = ({ agent, model }: Entry) => ({ agent, model: model.trim() || null });

/** An agent, and its model if it is to have another than usual. */
export function AgentChoice(props: {
  label: string;
  /** What no agent means. */
  none: string;
  names: string[];
  value: Entry;
  onChange: (value: Entry) => void;
}) {
  const { label, value, onChange } = props;
  const names = [...new Set([...props.names, ...(value.agent ? [value.agent] : [])])];
  return (
    <div className="grid min-w-0 flex-1 grid-cols-2 gap-2">
      <Field label={label}>
        {(id) => (
          <Select
            id={id}
            className="w-full"
            value={value.agent}
            onChange={(event) => onChange({ ...value, agent: event.target.value })}
          >
            <option value="">{props.none}</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={`Model of ${label.toLowerCase()}`}>
        {(id) => (
          <Input
            id={id}
            placeholder="Its own"
            disabled={!value.agent}
            value={value.model}
            onChange={(event) => onChange({ ...value, model: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
