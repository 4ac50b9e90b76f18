import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { api, data, once, type Schemas, type TaskView } from "@/api/client";
import { Button } from "@/kit/Button";
import { Field, Input } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { taskQueries } from "./queries";
import { Sure } from "./Sure";
import { told } from "./useActions";

type Snapshot = Schemas["Snapshot"];

/** Work that runs left uncommitted, kept aside. */
export function Snapshots({ view }: { view: TaskView }) {
  const found = useQuery(taskQueries.snapshots(view.task.id)).data?.items ?? [];
  const [chosen, setChosen] = useState<Snapshot | null>(null);
  if (found.length === 0) return null;
  return (
    <Section title="Snapshots" note="Work that was not committed">
      <Panel className="divide-y">
        {[...found].reverse().map((one) => (
          <div key={one.number} className="flex min-h-11 items-center gap-3 px-3">
            <span className="font-medium tabular-nums">{one.number}</span>
            <span
              className="min-w-0 flex-1 truncate text-ink-2"
              title={clean(one.files.slice(0, 50).join("\n"))}
            >
              {plural(one.files.length, "file")}: {clean(one.files.slice(0, 20).join(", "))}
            </span>
            <span className="text-xs text-ink-3 max-sm:hidden">
              <Ago time={one.taken_at} />
            </span>
            <Button size="small" onClick={() => setChosen(one)}>
              Restore
            </Button>
          </div>
        ))}
      </Panel>
      {chosen && <Restore view={view} snapshot={chosen} onClose={() => setChosen(null)} />}
    </Section>
  );
}

function Restore({
  view,
  snapshot,
  onClose,
}: {
  view: TaskView;
  snapshot: Snapshot;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [branch, setBranch] = useState("");
  const restore = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/tasks/{task_id}/snapshots/{number}/restore", {
          params: { path: { task_id: view.task.id, number: snapshot.number } },
          headers: once(),
          body: { to: branch.trim() || null },
        }),
      ),
    onSuccess: (done) => {
      toast(`Snapshot ${snapshot.number} is restored to ${done.workspace ?? done.branch}.`);
      void client.invalidateQueries({ queryKey: ["task", view.task.id] });
      onClose();
    },
  });
  return (
    <Sure
      title={`Restore snapshot ${snapshot.number}?`}
      action="Restore"
      danger={!branch.trim()}
      busy={restore.isPending}
      onClose={onClose}
      onSure={() => restore.mutate()}
    >
      <p>
        {branch.trim()
          ? "A new branch is made that holds this work; the workspace stays as it is."
          : "The task's workspace becomes as the snapshot is. What lies there now is saved on a snapshot first."}
      </p>
      <Field label="As a new branch" note="Left empty: into the workspace.">
        {(id) => <Input id={id} value={branch} onChange={(e) => setBranch(e.target.value)} />}
      </Field>
      {restore.error && (
        <p role="alert" className="text-bad">
          {told(restore.error)}
        </p>
      )}
    </Sure>
  );
}
