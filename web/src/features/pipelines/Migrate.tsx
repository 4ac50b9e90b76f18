import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Confirm } from "@/kit/Confirm";
import { Select } from "@/kit/Field";
import { Await } from "@/kit/State";
import { Table } from "@/kit/Table";
import { clean, plural } from "@/kit/text";

type Names = Record<string, string>;

const ask = (id: string, to: number, map: Names, apply: boolean, key?: string) =>
  data(
    api.POST("/api/v1/pipelines/{pipeline_id}/migrate", {
      params: { path: { pipeline_id: id } },
      headers: apply ? once(key) : {},
      body: { to, map, apply },
    }),
  );

/** Takes tasks of older versions to the newest: first where each would stand, then all or none. */
export function Migrate({ id, newest }: { id: string; newest: number }) {
  const [map, setMap] = useState<Names>({});
  const client = useQueryClient();
  const target = useQuery(queries.pipeline(id, newest)).data;
  const preview = useQuery({
    queryKey: ["counts", id, "migration", newest, map],
    queryFn: () => ask(id, newest, map, false),
    placeholderData: (before) => before,
  });
  const apply = useMutation({
    mutationFn: () => ask(id, newest, map, true),
    onSuccess: (done) => {
      toast.success(`${plural(done.tasks.length, "task is", "tasks are")} on version ${newest}.`);
      setMap({});
      void client.invalidateQueries({ queryKey: ["pipeline", id] });
      void client.invalidateQueries({ queryKey: ["counts"] });
      void client.invalidateQueries({ queryKey: ["task"] });
    },
    onError: (error: ApiError) =>
      toast.error([error.message, ...(error.details ?? [])].map(clean).join(" ")),
  });
  return (
    <section className="space-y-2">
      <h3 className="text-[13px] font-semibold">Take tasks to version {newest}</h3>
      <Await query={preview} rows={3}>
        {({ tasks }) => {
          const stuck = tasks.filter((one) => one.problem !== null);
          return (
            <>
              <Steps tasks={tasks} map={map} setMap={setMap} statuses={target?.statuses ?? []} />
              <div className="flex items-center gap-3">
                <p className="flex-1 text-ink-2">
                  {stuck.length > 0
                    ? `${plural(stuck.length, "task")} cannot be taken there; while one cannot, none is.`
                    : "All of them are taken there, or none."}
                </p>
                <Confirm
                  title={`Take ${plural(tasks.length, "task")} to version ${newest}?`}
                  action="Take them there"
                  danger={false}
                  onConfirm={() => apply.mutate()}
                  trigger={(open) => (
                    <Button
                      look="primary"
                      disabled={stuck.length > 0 || tasks.length === 0 || apply.isPending}
                      onClick={open}
                    >
                      Take them there
                    </Button>
                  )}
                >
                  Questions that the new version asks otherwise are closed and asked again. Nothing
                  is started by it.
                </Confirm>
              </div>
            </>
          );
        }}
      </Await>
    </section>
  );
}

function Steps({
  tasks,
  map,
  setMap,
  statuses,
}: {
  tasks: Schemas["MigrationStep"][];
  map: Names;
  setMap: (map: Names) => void;
  statuses: Schemas["Status"][];
}) {
  return (
    <Table
      label="Where each task would stand"
      rows={tasks}
      rowKey={(one) => one.task_id}
      columns={[
        {
          title: "Task",
          cell: (one) => (
            <>
              <Link
                to="/tasks/$taskId"
                params={{ taskId: one.task_id }}
                className="hover:underline"
              >
                {clean(one.title)}
              </Link>
              {one.problem && (
                <span className="block text-xs whitespace-normal text-bad">
                  {clean(one.problem)}
                </span>
              )}
            </>
          ),
        },
        { title: "Version", right: true, minor: true, cell: (one) => one.version },
        { title: "Stands at", cell: (one) => clean(one.from) },
        {
          title: "Would stand at",
          cell: (one) => (
            <Select
              aria-label={`Where ${one.from} goes`}
              className="h-7 max-w-40 text-xs"
              value={map[one.from] ?? one.to ?? ""}
              onChange={(event) => {
                const { [one.from]: _, ...others } = map;
                const to = event.target.value;
                setMap(to === "" || to === one.from ? others : { ...others, [one.from]: to });
              }}
            >
              {one.to === null && <option value="">Choose…</option>}
              {statuses.map((status) => (
                <option key={status.id} value={status.id}>
                  {clean(status.title)}
                </option>
              ))}
            </Select>
          ),
        },
      ]}
    />
  );
}
