import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Button } from "@/kit/Button";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { Choice } from "./Form";
import { blank, entries, itemOf, type JsonSchema, parts, titleOf, widget } from "./schema";

interface Props {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** What the server found wrong, by place. */
  faults: Record<string, string>;
  path: string;
  name?: string;
  needed: boolean;
}

const below = (path: string, part: string | number) => (path ? `${path}.${part}` : String(part));

/** The fields of one value, by its schema. */
export function SchemaFields(props: Props) {
  switch (widget(props.schema)) {
    case "group":
      return <Group {...props} />;
    case "list":
      return <Items {...props} />;
    case "boolean":
      return <YesNo {...props} />;
    default:
      return <One {...props} />;
  }
}

const label = ({ name = "", schema, needed }: Props) =>
  clean(titleOf(name, schema)) + (needed ? "" : " (may be left out)");

function Group(props: Props) {
  const { schema, value, onChange, faults, path, name } = props;
  const fields = parts(schema, value).map((part) => (
    <SchemaFields
      key={part.name}
      schema={part.schema}
      value={part.value}
      onChange={(next) => onChange({ ...(value as object | undefined), [part.name]: next })}
      faults={faults}
      path={below(path, part.name)}
      name={part.name}
      needed={part.needed}
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
  const { schema, value, onChange, faults, path } = props;
  const items = entries(value);
  const item = itemOf(schema);
  return (
    <Part legend={label(props)} note={schema.description} error={faults[path]}>
      {items.map((one, index) => (
        <div key={index} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <SchemaFields
              schema={item}
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
        onClick={() => onChange([...items, blank(item) ?? ""])}
      >
        <Plus size={14} /> Add
      </Button>
    </Part>
  );
}

/** Neither is chosen at first: a no is something to say. */
function YesNo(props: Props) {
  const { value, onChange, schema, faults, path, needed } = props;
  const name = useId();
  const ways: [string, boolean | undefined][] = [
    ["Yes", true],
    ["No", false],
  ];
  if (!needed) ways.push(["Leave out", undefined]);
  return (
    <Part legend={label(props)} note={schema.description} error={faults[path]}>
      <div className="flex flex-wrap gap-2">
        {ways.map(([words, meant]) => (
          <Choice
            key={words}
            name={name}
            checked={value === meant}
            onChoose={() => onChange(meant)}
            className="items-center py-1.5 pr-4 max-sm:flex-1"
          >
            {words}
          </Choice>
        ))}
      </div>
    </Part>
  );
}

function One(props: Props) {
  const { schema, value, onChange, faults, path } = props;
  const control = (id: string) => {
    switch (widget(schema)) {
      case "choice": {
        const options = schema.enum ?? [];
        const at = options.indexOf(value as string);
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
                {clean(String(one))}
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
      {note && <p className="text-xs text-ink-3">{clean(note)}</p>}
      {children}
      {error && (
        <p role="alert" className="text-xs text-bad">
          {clean(error)}
        </p>
      )}
    </fieldset>
  );
}
