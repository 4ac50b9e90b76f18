import { Field, Input, Select } from "@/kit/Field";
import { type Issues, STATES } from "./issues";

/** Which issues on GitHub are meant. */
export function IssueFields({
  given,
  onChange,
}: {
  given: Issues;
  onChange: (part: Partial<Issues>) => void;
}) {
  const some = given.numbers.trim() !== "";
  return (
    <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
      <Field label="Repository" note="As owner/name; empty: that of the project.">
        {(id) => (
          <Input
            id={id}
            value={given.repository}
            onChange={(event) => onChange({ repository: event.target.value })}
          />
        )}
      </Field>
      <Field label="Issues" note="By number, such as 12, 15; empty: all that fit.">
        {(id) => (
          <Input
            id={id}
            value={given.numbers}
            onChange={(event) => onChange({ numbers: event.target.value })}
          />
        )}
      </Field>
      <Field label="Labels" note="Several with commas: an issue has all of them.">
        {(id) => (
          <Input
            id={id}
            disabled={some}
            value={given.labels}
            onChange={(event) => onChange({ labels: event.target.value })}
          />
        )}
      </Field>
      <Field label="State">
        {(id) => (
          <Select
            id={id}
            className="w-full"
            disabled={some}
            value={given.state}
            onChange={(event) => onChange({ state: event.target.value as Issues["state"] })}
          >
            {STATES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}
