import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas, TaskView } from "@/api/client";
import { Button } from "@/kit/Button";
import { Select } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { Panel, Section } from "@/kit/Page";
import { Await } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { CommitDialog } from "./CommitDialog";
import { DiffText } from "./DiffText";
import { taskQueries } from "./queries";

type Document = Schemas["Document"];

/** Plan, design and the like, each with its versions and what changed between them. */
export function Documents({ view }: { view: TaskView }) {
  const all = useQuery(taskQueries.documents(view.task.id)).data?.items ?? [];
  const names = [...new Set(all.map((one) => one.name))];
  if (names.length === 0)
    return view.task.plan ? (
      <Section title="Plan">
        <Panel className="p-4">
          <Markdown text={view.task.plan} />
        </Panel>
      </Section>
    ) : null;
  return names.map((name) => (
    <OneDocument key={name} task={view.task.id} versions={all.filter((one) => one.name === name)} />
  ));
}

function OneDocument({ task, versions }: { task: string; versions: Document[] }) {
  const newest = versions.at(-1) as Document;
  const [chosen, setChosen] = useState<number | null>(null);
  const [compare, setCompare] = useState(false);
  const [committing, setCommitting] = useState(false);
  const shown = versions.find((one) => one.version === chosen) ?? newest;
  const before = versions.findLast((one) => one.version < shown.version);
  return (
    <Section
      title={clean(shown.name.charAt(0).toUpperCase() + shown.name.slice(1))}
      note={
        <>
          version {shown.version}, <Ago time={shown.created_at} />
        </>
      }
      actions={
        <>
          <Button onClick={() => setCommitting(true)}>Commit…</Button>
          {versions.length > 1 && (
            <>
              <Select
                aria-label={`Version of ${shown.name}`}
                value={shown.version}
                onChange={(event) => setChosen(Number(event.target.value))}
              >
                {versions.map((one) => (
                  <option key={one.version} value={one.version}>
                    Version {one.version}
                  </option>
                ))}
              </Select>
              <Button
                aria-pressed={compare && !!before}
                disabled={!before}
                onClick={() => setCompare(!compare)}
              >
                {compare && before ? "Show the text" : "What changed"}
              </Button>
            </>
          )}
        </>
      }
    >
      {committing && (
        <CommitDialog task={task} document={shown} onClose={() => setCommitting(false)} />
      )}
      <Panel className="overflow-hidden p-4">
        {compare && before ? (
          <Difference task={task} name={shown.name} since={before.version} to={shown.version} />
        ) : (
          <Markdown text={shown.text} />
        )}
      </Panel>
    </Section>
  );
}

function Difference(props: { task: string; name: string; since: number; to: number }) {
  const query = useQuery(taskQueries.difference(props.task, props.name, props.since, props.to));
  return <Await query={query}>{(text) => <DiffText text={text} />}</Await>;
}
