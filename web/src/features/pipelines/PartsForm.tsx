import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/kit/Button";
import { Input, Select } from "@/kit/Field";
import { clean } from "@/kit/text";
import { plainly } from "./Details";

export interface PartRow extends Record<string, unknown> {
  type: string;
  params: Record<string, unknown>;
}
interface Known {
  name: string;
  meaning: string;
  params: Record<string, unknown> | null;
}

/** Guards or hooks of a transition, each with what it is told. */
export function PartsForm({
  title,
  add,
  known,
  rows,
  onChange,
  extra,
}: {
  title: string;
  add: string;
  known: Known[];
  rows: PartRow[];
  onChange: (rows: Record<string, unknown>[]) => void;
  extra: (row: PartRow, put: (row: PartRow) => void) => ReactNode;
}) {
  const write = (next: PartRow[]) => onChange(next.map(tidy));
  const put = (index: number) => (row: PartRow) =>
    write(rows.map((each, at) => (at === index ? row : each)));
  return (
    <section className="space-y-1.5">
      <h3 className="text-xs font-medium text-ink-2">{title}</h3>
      {rows.map((row, index) => {
        const part = known.find((one) => one.name === row.type);
        return (
          <div key={index} className="space-y-1.5 rounded-lg border px-2.5 py-2">
            <div className="flex items-center gap-2">
              <code className="min-w-0 flex-1 truncate font-mono text-xs font-medium">
                {clean(row.type)}
              </code>
              {extra(row, put(index))}
              <Button
                size="icon"
                look="quiet"
                className="size-6"
                aria-label={`Take ${row.type} out`}
                onClick={() => write(rows.filter((_, at) => at !== index))}
              >
                <X size={13} />
              </Button>
            </div>
            {part && <p className="text-xs text-ink-2">{plainly(part.meaning)}</p>}
            <Params
              row={row}
              schema={part?.params ?? null}
              onChange={(params) => put(index)({ ...row, params })}
            />
          </div>
        );
      })}
      <Select
        aria-label={add}
        className="text-xs"
        value=""
        onChange={(event) => write([...rows, { type: event.target.value, params: {} }])}
      >
        <option value="">{add}</option>
        {known.map((one) => (
          <option key={one.name} value={one.name} title={plainly(one.meaning)}>
            {clean(one.name)}
          </option>
        ))}
      </Select>
    </section>
  );
}

function tidy({ params, ...row }: PartRow): Record<string, unknown> {
  const kept = Object.entries(row).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(kept),
    ...(Object.keys(params).length > 0 ? { params } : {}),
  };
}

/** One field for each parameter: those that are set, and those that the part is known to take. */
function Params({
  row,
  schema,
  onChange,
}: {
  row: PartRow;
  schema: Record<string, unknown> | null;
  onChange: (params: Record<string, unknown>) => void;
}) {
  const [more, setMore] = useState(false);
  const taken = Object.keys((schema?.properties ?? {}) as object);
  const required = (schema?.required ?? []) as string[];
  const first = [...new Set([...required, ...Object.keys(row.params)])];
  const rest = taken.filter((key) => !first.includes(key));
  const shown = more ? [...first, ...rest] : first;
  return (
    <>
      {shown.map((key) => (
        <div key={key} className="grid grid-cols-[6.5rem_1fr] items-center gap-2 text-xs">
          <span aria-hidden className="truncate text-ink-2">
            {clean(key)}
          </span>
          <Input
            aria-label={`${row.type}: ${key}`}
            className="h-7 text-xs"
            value={said(row.params[key])}
            onChange={(event) => {
              const { [key]: _, ...others } = row.params;
              const value = event.target.value;
              onChange(value === "" ? others : { ...others, [key]: meant(value) });
            }}
          />
        </div>
      ))}
      {(rest.length > 0 || schema === null) && !more && (
        <span className="flex gap-2">
          {rest.length > 0 && (
            <Button size="small" look="quiet" onClick={() => setMore(true)}>
              {rest.length} more it takes
            </Button>
          )}
          {schema === null && <AddParam onAdd={(key) => onChange({ ...row.params, [key]: "…" })} />}
        </span>
      )}
    </>
  );
}

function AddParam({ onAdd }: { onAdd: (key: string) => void }) {
  const [name, setName] = useState("");
  const give = () => {
    if (name.trim()) onAdd(name.trim());
    setName("");
  };
  return (
    <Input
      aria-label="Name of a parameter to add"
      placeholder="add a parameter…"
      className="h-7 w-40 text-xs"
      value={name}
      onChange={(event) => setName(event.target.value)}
      onBlur={give}
      onKeyDown={(event) => {
        if (event.key === "Enter") give();
      }}
    />
  );
}

const said = (value: unknown) =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Numbers, yes and no, and lists are typed as JSON has them; all else is text. */
function meant(text: string): unknown {
  if (!/^(-?\d+(\.\d+)?|true|false|[[{].*)$/s.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
