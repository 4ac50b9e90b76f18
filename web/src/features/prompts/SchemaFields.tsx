import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/kit/Button";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { blank, type JsonSchema, resolved, titleOf, widget } from "./schema";

interface Props {
  schema: JsonSchema;
  root: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** What the server found wrong, by place. */
  faults: Record<string, string>;
  path: string;
  name?: string;
  needed: boolean;
}

const below = (path: string, part: string | number) => (path ? `${path}.${part}` : String(part));
const depthOf = (path: string) => (path ? path.split(".").length : 0);

/** The fields of one value, by its schema. */
export function SchemaFields(props: Props) {
  switch (widget(props.schema, depthOf(props.path))) {
    case "group":
      return <Group {...props} />;
    case "list":
      return <Items {...props} />;
    case "boolean":
      return <YesNo {...props} />;
    case "json":
      return <AnyJson {...props} />;
    default:
      return <One {...props} />;
  }
}

const label = ({ name = "", schema, needed }: Props) =>
  clean(titleOf(name, schema)) + (needed ? "" : " (may be left out)");

function Group(props: Props) {
  const { schema, root, value, onChange, faults, path, name } = props;
  const given = (value ?? {}) as Record<string, unknown>;
  const fields = Object.entries(schema.properties ?? {}).map(([part, child]) => (
    <SchemaFields
      key={part}
      schema={resolved(child, root)}
      root={root}
      value={given[part]}
      onChange={(next) => onChange({ ...given, [part]: next })}
      faults={faults}
      path={below(path, part)}
      name={part}
      needed={schema.required?.includes(part) ?? false}
    />
  ));
  if (name === undefined) return <div className="space-y-4">{fields}</div>;
  return (
    <Part legend={label(props)} note={schema.description} error={faults[path]}>
      <div className="space-y-3 border-l-2 pl-3">{fields}</div>
    </Part>
  );
}

function Items(props: Props) {
  const { schema, root, value, onChange, faults, path } = props;
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const item = resolved(schema.items, root);
  return (
    <Part legend={label(props)} note={schema.description} error={faults[path]}>
      {items.map((one, index) => (
        <div key={index} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <SchemaFields
              schema={item}
              root={root}
              value={one}
              onChange={(next) => onChange(items.map((old, at) => (at === index ? next : old)))}
              faults={faults}
              path={below(path, index)}
              name={`${item.title ?? "Entry"} ${index + 1}`}
              needed
            />
          </div>
          <Button
            size="icon"
            look="quiet"
            className="mt-5"
            aria-label={`Remove entry ${index + 1}`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            <Trash2 size={15} />
          </Button>
        </div>
      ))}
      <Button
        size="small"
        disabled={items.length >= (schema.maxItems ?? Number.POSITIVE_INFINITY)}
        onClick={() => onChange([...items, blank(item, root, depthOf(path) + 1) ?? ""])}
      >
        <Plus size={14} /> Add
      </Button>
    </Part>
  );
}

function YesNo(props: Props) {
  const { value, onChange, schema, faults, path } = props;
  return (
    <div className="space-y-1">
      <label className="flex min-h-8 items-center gap-2 max-sm:min-h-11">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        {clean(titleOf(props.name ?? "", schema))}
      </label>
      <Notes note={schema.description} error={faults[path]} />
    </div>
  );
}

function One(props: Props) {
  const { schema, value, onChange, faults, path } = props;
  const kind = widget(schema, depthOf(path));
  const control = (id: string) => {
    switch (kind) {
      case "choice": {
        const options = schema.enum ?? [schema.const];
        const at = options.findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
        return (
          <Select
            id={id}
            className="w-full"
            value={at < 0 ? "" : at}
            onChange={(event) =>
              onChange(event.target.value === "" ? undefined : options[Number(event.target.value)])
            }
          >
            <option value="">…</option>
            {options.map((one, index) => (
              <option key={index} value={index}>
                {clean(typeof one === "string" ? one : JSON.stringify(one))}
              </option>
            ))}
          </Select>
        );
      }
      case "number":
        return (
          <Input
            id={id}
            type="number"
            step={schema.type === "integer" ? 1 : "any"}
            min={schema.minimum}
            max={schema.maximum}
            value={typeof value === "number" ? value : ""}
            onChange={(event) =>
              onChange(event.target.value === "" ? undefined : event.target.valueAsNumber)
            }
          />
        );
      case "lines":
        return (
          <TextArea
            id={id}
            value={typeof value === "string" ? value : ""}
            onChange={(event) => onChange(event.target.value)}
          />
        );
      default:
        return (
          <Input
            id={id}
            maxLength={schema.maxLength}
            value={typeof value === "string" ? value : ""}
            onChange={(event) => onChange(event.target.value)}
          />
        );
    }
  };
  return (
    <Field
      label={label(props)}
      note={schema.description && clean(schema.description)}
      error={faults[path] && clean(faults[path])}
    >
      {control}
    </Field>
  );
}

/** What no simpler field fits. */
function AnyJson(props: Props) {
  const { schema, value, onChange, faults, path } = props;
  const [text, setText] = useState(() =>
    value === undefined ? "" : JSON.stringify(value, null, 2),
  );
  const [broken, setBroken] = useState(false);
  const write = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() ? JSON.parse(next) : undefined);
      setBroken(false);
    } catch {
      onChange(undefined);
      setBroken(true);
    }
  };
  return (
    <Field
      label={label(props)}
      note={schema.description ? clean(schema.description) : "As JSON."}
      error={broken ? "This is not JSON yet, so it is left out." : faults[path]}
    >
      {(id) => (
        <TextArea
          id={id}
          className="font-mono"
          spellCheck={false}
          value={text}
          onChange={(event) => write(event.target.value)}
        />
      )}
    </Field>
  );
}

function Part({
  legend,
  note,
  error,
  children,
}: {
  legend: string;
  note?: string;
  error?: string;
  children: ReactNode;
}) {
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="text-xs font-medium text-ink-2">{legend}</legend>
      <Notes note={note} error={error} />
      {children}
    </fieldset>
  );
}

function Notes({ note, error }: { note?: string; error?: string }) {
  return (
    <>
      {note && <p className="text-xs text-ink-3">{clean(note)}</p>}
      {error && (
        <p role="alert" className="text-xs text-bad">
          {clean(error)}
        </p>
      )}
    </>
  );
}
