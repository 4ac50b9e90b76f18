import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Pipeline, Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Select } from "@/kit/Field";
import { Await } from "@/kit/State";
import { Table } from "@/kit/Table";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { written } from "./edits";
import { Migrate } from "./Migrate";
import { pipelineQueries } from "./queries";
import { TextDiff } from "./TextDiff";

type Version = Schemas["PipelineVersion"];

/** Unfinished tasks on versions before the newest. */
export const behind = (versions: Version[]) =>
  versions.slice(1).reduce((sum, one) => sum + one.tasks, 0);

export function Versions({
  open,
  onClose,
  pipeline,
}: {
  open: boolean;
  onClose: () => void;
  pipeline: Pipeline;
}) {
  const versions = useQuery({ ...pipelineQueries.versions(pipeline.id), enabled: open });
  return (
    <Dialog open={open} onClose={onClose} title={`Versions of ${clean(pipeline.name)}`} wide>
      <Await query={versions} rows={3}>
        {({ items }) => (
          <div className="space-y-6">
            <All items={items} shown={pipeline.version} onClose={onClose} />
            {items.length > 1 && <Compare id={pipeline.id} items={items} />}
            {behind(items) > 0 && <Migrate id={pipeline.id} newest={items[0]?.version ?? 1} />}
          </div>
        )}
      </Await>
    </Dialog>
  );
}

function All({ items, shown, onClose }: { items: Version[]; shown: number; onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <section className="space-y-2">
      <p className="text-ink-2">
        A version never changes, and a task keeps the one it began with.
        {behind(items) > 0 &&
          ` ${plural(behind(items), "unfinished task is", "unfinished tasks are")} on older versions.`}
      </p>
      <Table
        label="Versions"
        rows={items}
        rowKey={(one) => String(one.version)}
        columns={[
          {
            title: "Version",
            cell: (one) => (
              <>
                {one.version}
                {one === items[0] && <span className="text-ink-3"> newest</span>}
              </>
            ),
          },
          { title: "Saved", cell: (one) => <Ago time={one.created_at} /> },
          { title: "Unfinished tasks", right: true, cell: (one) => one.tasks },
          {
            title: "Look at it",
            right: true,
            cell: (one) =>
              one.version === shown ? (
                <span className="text-ink-3">shown</span>
              ) : (
                <Button
                  size="small"
                  aria-label={`Show version ${one.version}`}
                  onClick={() => {
                    onClose();
                    void navigate({
                      to: ".",
                      search: (now) => ({
                        ...now,
                        version: one === items[0] ? undefined : one.version,
                        task: undefined,
                      }),
                    });
                  }}
                >
                  Show
                </Button>
              ),
          },
        ]}
      />
    </section>
  );
}

function Compare({ id, items }: { id: string; items: Version[] }) {
  const numbers = items.map((one) => one.version);
  const [from, setFrom] = useState(numbers[1] ?? 1);
  const [to, setTo] = useState(numbers[0] ?? 1);
  const before = useQuery(pipelineQueries.document(id, from));
  const after = useQuery(pipelineQueries.document(id, to));
  const both =
    before.data !== undefined && after.data !== undefined
      ? { before: written(before.data), after: written(after.data) }
      : undefined;
  return (
    <section className="space-y-2">
      <h3 className="text-[13px] font-semibold">What changed</h3>
      <div className="flex flex-wrap gap-3">
        {(
          [
            ["From version", from, setFrom],
            ["To version", to, setTo],
          ] as const
        ).map(([label, value, set]) => (
          <Field key={label} label={label}>
            {(field) => (
              <Select
                id={field}
                value={value}
                onChange={(event) => set(Number(event.target.value))}
              >
                {numbers.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </Select>
            )}
          </Field>
        ))}
      </div>
      <Await
        query={{ data: both, error: before.error ?? after.error, refetch: before.refetch }}
        rows={4}
      >
        {(texts) =>
          texts.before === texts.after ? (
            <p className="text-ink-2">They say the same.</p>
          ) : (
            <TextDiff {...texts} />
          )
        }
      </Await>
    </section>
  );
}
