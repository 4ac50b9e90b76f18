import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type ApiError, api, data, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { Table } from "@/kit/Table";
import { clean } from "@/kit/text";
import { decoded, FORMATS, type Format, formatOf } from "./lists";

type Item = Schemas["ImportedTask"];
type Imported = Schemas["ImportedTasks"];

const BLANK = { text: "", source: "", format: "md" as Format, project: "" };
const STATES: Record<Item["state"], string> = {
  made: "Made",
  to_make: "Would be made",
  already_there: "Already there",
};

/** Tasks out of a list: first what would be made, then made, all of them or none. */
export function ImportDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { project } = useSearch({ from: "/frame" });
  const client = useQueryClient();
  const projects = useQuery(queries.projects()).data?.items ?? [];
  const [given, setGiven] = useState(BLANK);
  const [unreadable, setUnreadable] = useState("");
  const form = { ...given, project: given.project || project || projects[0]?.name || "" };
  const send = useMutation({
    mutationFn: (dry_run: boolean) =>
      data(api.POST("/api/v1/tasks/import", { body: { ...form, dry_run } })),
    onSuccess: (_, dry_run) => {
      if (!dry_run) void client.invalidateQueries({ queryKey: ["tasks"] });
    },
  });
  const set = (part: Partial<typeof BLANK>) => {
    setGiven({ ...form, ...part });
    setUnreadable("");
    send.reset();
  };
  const choose = async (file: File) => {
    try {
      const text = decoded(await file.arrayBuffer());
      set({ text, source: file.name, format: formatOf(text, file.name) });
    } catch {
      setUnreadable(`${file.name} is not UTF-8 text; save it as UTF-8.`);
    }
  };
  const close = () => {
    onClose();
    setGiven(BLANK);
    setUnreadable("");
    send.reset();
  };
  const error = send.error as ApiError | null;
  const toMake = send.data?.items.filter((one) => one.state === "to_make").length ?? 0;
  return (
    <Dialog
      open={open}
      onClose={close}
      wide
      title="Import tasks"
      description="All of them are made or none, none twice, and none is started."
    >
      <div className="space-y-4">
        <div className="grid grid-cols-3 gap-3 max-sm:grid-cols-1">
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
                value={form.format}
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
          <Field label="Project">
            {(id) => (
              <Select
                id={id}
                className="w-full"
                value={form.project}
                onChange={(event) => set({ project: event.target.value })}
              >
                {projects.map((one) => (
                  <option key={one.id} value={one.name}>
                    {one.name}
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
              value={form.text}
              onChange={(event) =>
                set({
                  text: event.target.value,
                  format: formatOf(event.target.value, form.source),
                })
              }
            />
          )}
        </Field>
        {(error || unreadable) && (
          <div role="alert" className="text-bad">
            {unreadable || error?.message}
            <ul className="list-disc pl-5">
              {error?.details.map((one) => (
                <li key={one}>{clean(one)}</li>
              ))}
            </ul>
          </div>
        )}
        {send.data && <Outcome done={send.data} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Close</Button>
          {toMake > 0 ? (
            <Button look="primary" disabled={send.isPending} onClick={() => send.mutate(false)}>
              Make {counted(toMake)}
            </Button>
          ) : (
            <Button
              look="primary"
              disabled={send.isPending || !form.text.trim()}
              onClick={() => send.mutate(true)}
            >
              Show what would be made
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Outcome({ done }: { done: Imported }) {
  const made = done.items.filter((one) => one.state === "made").length;
  return (
    <div className="space-y-2">
      <p role="status">
        {made > 0 && `${counted(made)} made, none of them started. `}
        {done.items.every((one) => one.state === "already_there") && "Nothing is new. "}
        {done.skipped > 0 && `${done.skipped} checked off and skipped.`}
      </p>
      <Table
        label="Tasks of the list"
        rows={done.items}
        rowKey={(one) => one.place}
        columns={[
          { title: "Where", minor: true, cell: (one) => one.place },
          { title: "Title", cell: (one) => <Title item={one} /> },
          { title: "", cell: (one) => STATES[one.state] },
          { title: "Pipeline", minor: true, cell: (one) => one.pipeline },
          { title: "Waits for", right: true, minor: true, cell: (one) => one.dependencies || "" },
        ]}
      />
    </div>
  );
}

function Title({ item }: { item: Item }) {
  if (!item.task_id) return clean(item.title);
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: item.task_id }}
      className="text-accent-text hover:underline"
    >
      {clean(item.title)}
    </Link>
  );
}

function counted(number: number): string {
  return `${number} ${number === 1 ? "task" : "tasks"}`;
}
