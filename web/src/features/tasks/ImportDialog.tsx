import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type ApiError, api, data, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Select } from "@/kit/Field";
import { Table } from "@/kit/Table";
import { clean, plural } from "@/kit/text";
import { IssueFields } from "./IssueFields";
import { asked, type Issues, NO_ISSUES } from "./issues";
import { type List, ListFields, NO_LIST } from "./ListFields";

type Item = Schemas["ImportedTask"];
type Imported = Schemas["ImportedTasks"];
type Source = "list" | "github";

const SOURCES: [Source, string][] = [
  ["list", "A list or file"],
  ["github", "Issues on GitHub"],
];
const STATES: Record<Item["state"], string> = {
  made: "Made",
  to_make: "Would be made",
  already_there: "Already there",
};

const STARTS: Record<NonNullable<Item["start"]>, string> = {
  started: "started",
  waiting: "waiting for dependencies",
  scheduled: "scheduled",
  refused: "not started",
};

/** Tasks out of a list or of issues: first what would be made, then made, all of them or none. */
export function ImportDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { project } = useSearch({ from: "/frame" });
  const client = useQueryClient();
  const projects = useQuery(queries.projects()).data?.items ?? [];
  const [source, setSource] = useState<Source>("list");
  const [chosen, setChosen] = useState("");
  const [list, setList] = useState(NO_LIST);
  const [issues, setIssues] = useState(NO_ISSUES);
  const [start, setStart] = useState(false);
  const of = chosen || project || projects[0]?.name || "";
  const wanted = asked(issues);
  const send = useMutation({
    mutationFn: (dry_run: boolean) =>
      source === "list"
        ? data(api.POST("/api/v1/tasks/import", { body: { ...list, project: of, dry_run, start } }))
        : data(
            api.POST("/api/v1/tasks/import/github", {
              body: { ...wanted, project: of, dry_run, start },
            }),
          ),
    onSuccess: (_, dry_run) => {
      if (!dry_run) void client.invalidateQueries({ queryKey: ["tasks"] });
    },
  });
  const changing =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      send.reset();
    };
  const close = () => {
    onClose();
    setList(NO_LIST);
    setIssues(NO_ISSUES);
    setStart(false);
    send.reset();
  };
  const error = send.error as ApiError | null;
  const ready = source === "list" ? list.text.trim() !== "" : wanted !== null;
  const toMake = send.data?.items.filter((one) => one.state === "to_make").length ?? 0;
  return (
    <Dialog
      open={open}
      onClose={close}
      wide
      title="Import tasks"
      description="All of them are created or none, and none twice."
    >
      <div className="space-y-4">
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <Choice
            label="From"
            value={source}
            options={SOURCES}
            onChange={changing((value) => setSource(value as Source))}
          />
          <Choice
            label="Project"
            value={of}
            options={projects.map((one) => [one.name, one.name])}
            onChange={changing(setChosen)}
          />
        </div>
        {source === "list" ? (
          <ListFields
            given={list}
            onChange={changing((part: Partial<List>) => setList({ ...list, ...part }))}
          />
        ) : (
          <IssueFields
            given={issues}
            onChange={changing((part: Partial<Issues>) => setIssues({ ...issues, ...part }))}
          />
        )}
        {source === "github" && wanted === null && (
          <p role="alert" className="text-bad">
            Issues are named by their numbers, such as 12, 15.
          </p>
        )}
        {error && (
          <div role="alert" className="text-bad">
            {clean(error.message)}
            <ul className="list-disc pl-5">
              {error.details.map((one) => (
                <li key={one}>{clean(one)}</li>
              ))}
            </ul>
          </div>
        )}
        {send.data && <Outcome done={send.data} source={source} />}
        <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2">
          <label className="mr-auto flex min-h-9 items-center gap-2">
            <input
              type="checkbox"
              checked={start}
              onChange={(event) => setStart(event.target.checked)}
            />
            Start the new tasks when their dependencies are finished
          </label>
          <Button onClick={close}>Close</Button>
          {toMake > 0 ? (
            <Button look="primary" disabled={send.isPending} onClick={() => send.mutate(false)}>
              Make {counted(toMake)}
            </Button>
          ) : (
            <Button
              look="primary"
              disabled={send.isPending || !ready}
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

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <Select
          id={id}
          className="w-full"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function Outcome({ done, source }: { done: Imported; source: Source }) {
  const made = done.items.filter((one) => one.state === "made").length;
  const skipped = source === "list" ? "checked off" : "are pull requests";
  return (
    <div className="space-y-2">
      <p role="status">
        {made > 0 && `${counted(made)} made${startedOf(done.items)}. `}
        {done.items.every((one) => one.state === "already_there") && "Nothing is new. "}
        {done.skipped > 0 && `${done.skipped} ${skipped} and skipped.`}
      </p>
      {done.left_out_count > 0 && <LeftOut done={done} />}
      <Table
        label="Tasks of the list"
        rows={done.items}
        rowKey={(one) => one.place}
        columns={[
          { title: "Where", minor: true, cell: (one) => one.place },
          { title: "Title", cell: (one) => <Title item={one} /> },
          {
            title: "",
            cell: (one) => (
              <span title={one.start_reason || undefined}>
                {STATES[one.state]}
                {one.changed && ", changed since"}
                {one.start && `, ${STARTS[one.start]}`}
              </span>
            ),
          },
          { title: "Pipeline", minor: true, cell: (one) => one.pipeline },
          { title: "Waits for", right: true, minor: true, cell: (one) => one.dependencies || "" },
        ]}
      />
    </div>
  );
}

function LeftOut({ done }: { done: Imported }) {
  const more = done.left_out_count - done.left_out.length;
  const bullets = plural(done.left_out_count, "list item");
  return (
    <details open={done.left_out_count <= 5} className="rounded-lg border bg-sunken px-3 py-2">
      <summary className="cursor-pointer">
        {bullets} left out, because a task is a line like “- [ ] Title”
      </summary>
      <ul className="mt-1 list-disc pl-5 text-ink-2 wrap-anywhere">
        {done.left_out.map((one) => (
          <li key={one.place}>
            {one.place}: {clean(one.text)}
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </details>
  );
}

function startedOf(items: Item[]): string {
  const number = (state: Item["start"]) => items.filter((one) => one.start === state).length;
  const told = [
    number("started") && `${number("started")} started`,
    number("waiting") && `${number("waiting")} waiting for dependencies`,
    number("refused") && `${number("refused")} not started`,
  ].filter(Boolean);
  return told.length > 0 ? `, ${told.join(", ")}` : ", none of them started";
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
