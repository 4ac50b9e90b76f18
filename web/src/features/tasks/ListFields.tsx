import { useState } from "react";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { decoded, FORMATS, type Format, formatOf } from "./lists";

export type List = { text: string; source: string; format: Format };
export const NO_LIST: List = { text: "", source: "", format: "md" };

/** A list that is pasted or chosen. */
export function ListFields({
  given,
  onChange,
}: {
  given: List;
  onChange: (part: Partial<List>) => void;
}) {
  const [unreadable, setUnreadable] = useState("");
  const set = (part: Partial<List>) => {
    setUnreadable("");
    onChange(part);
  };
  const choose = async (file: File) => {
    try {
      const text = decoded(await file.arrayBuffer());
      set({ text, source: file.name, format: formatOf(text, file.name) });
    } catch {
      onChange({});
      setUnreadable(`${file.name} is not UTF-8 text; save it as UTF-8.`);
    }
  };
  return (
    <>
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Field label="File">
          {(id) => (
            <Input
              id={id}
              type="file"
              accept=".md,.markdown,.csv,.json,.txt"
              className="py-1"
              onChange={(event) => event.target.files?.[0] && void choose(event.target.files[0])}
            />
          )}
        </Field>
        <Field label="Kind">
          {(id) => (
            <Select
              id={id}
              className="w-full"
              value={given.format}
              onChange={(event) => set({ format: event.target.value as Format })}
            >
              {FORMATS.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Field label="List" note="Paste it, or choose a file. “- [ ] Title” is a task in Markdown.">
        {(id) => (
          <TextArea
            id={id}
            rows={8}
            className="font-mono text-xs"
            value={given.text}
            onChange={(event) =>
              set({ text: event.target.value, format: formatOf(event.target.value, given.source) })
            }
          />
        )}
      </Field>
      {unreadable && (
        <p role="alert" className="text-bad">
          {unreadable}
        </p>
      )}
    </>
  );
}
