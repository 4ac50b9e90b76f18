import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Table } from "@/kit/Table";

type Setting = Schemas["Setting"];

/** Every setting in effect, where it comes from, and a change that is shown before it is written. */
export function Configuration() {
  const { project } = useSearch({ from: "/frame" });
  const projects = useQuery(queries.projects()).data?.items;
  const name = project ?? projects?.[0]?.name;
  const [editing, setEditing] = useState<Setting | "new" | null>(null);
  const settings = useQuery({
    queryKey: ["settings", name ?? ""],
    queryFn: () =>
      data(
        api.GET("/api/v1/projects/{project_id}/settings", {
          params: { path: { project_id: name ?? "" } },
        }),
      ),
    enabled: name !== undefined,
  });
  if (projects && !name)
    return <Empty title="No project yet">Settings are shown as they hold for a project.</Empty>;
  return (
    <Section
      title={`In effect for ${name ?? "…"}`}
      actions={
        <Button size="small" onClick={() => setEditing("new")}>
          Set another
        </Button>
      }
    >
      <Await query={settings}>
        {({ items, errors }) => (
          <>
            {errors.length > 0 && (
              <div role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
                {errors.map((error) => (
                  <p key={error}>{error}</p>
                ))}
              </div>
            )}
            <Table<Setting>
              label="Settings in effect"
              rows={items}
              rowKey={(one) => one.key}
              columns={[
                {
                  title: "Setting",
                  cell: (one) => <span className="font-mono text-xs">{one.key}</span>,
                },
                {
                  title: "Value",
                  cell: (one) => (
                    <span className="font-mono text-xs">{JSON.stringify(one.value)}</span>
                  ),
                },
                {
                  title: "From",
                  minor: true,
                  cell: (one) => (
                    <span className="text-xs text-ink-3" title={one.file ?? undefined}>
                      {one.layer}
                      {one.line !== null && `, line ${one.line}`}
                    </span>
                  ),
                },
                {
                  title: "",
                  right: true,
                  cell: (one) => (
                    <Button size="small" look="quiet" onClick={() => setEditing(one)}>
                      Change…
                    </Button>
                  ),
                },
              ]}
            />
          </>
        )}
      </Await>
      {editing && name && (
        <Change
          key={editing === "new" ? "" : editing.key}
          project={name}
          setting={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </Section>
  );
}

/** As JSON, or the words as they are: `main` needs no quotes. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Change({
  project,
  setting,
  onClose,
}: {
  project: string;
  setting: Setting | null;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [key, setKey] = useState(setting?.key ?? "");
  const [layer, setLayer] = useState(setting?.layer === "user" ? "user" : "project");
  const [value, setValue] = useState(setting ? JSON.stringify(setting.value) : "");
  const [unset, setUnset] = useState(false);
  const write = (more: { dry_run: boolean; expect?: string }) => {
    const body = unset
      ? { unset: [key], set: {}, ...more }
      : { set: { [key]: read(value) }, unset: [], ...more };
    return data(
      layer === "user"
        ? api.PATCH("/api/v1/settings", { headers: once(), body })
        : api.PATCH("/api/v1/projects/{project_id}/settings", {
            params: { path: { project_id: project } },
            headers: once(),
            body,
          }),
    );
  };
  const look = useMutation({ mutationFn: () => write({ dry_run: true }) });
  const save = useMutation({
    mutationFn: () => write({ dry_run: false, expect: look.data?.fingerprint }),
    onSuccess: (edit) => {
      toast.success(`Written into ${edit.file}.`);
      void client.invalidateQueries({ queryKey: ["settings"] });
      void client.invalidateQueries({ queryKey: ["projects"] });
      onClose();
    },
  });
  const change = (act: () => void) => {
    act();
    look.reset();
    save.reset();
  };
  const error = (look.error ?? save.error) as ApiError | null;
  const edit = look.data;
  return (
    <Dialog open onClose={onClose} title={setting ? `Change ${setting.key}` : "Set a setting"} wide>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (edit) save.mutate();
          else look.mutate();
        }}
      >
        {!setting && (
          <Field label="Setting" note="With dots between nested names, such as agents.codex.model.">
            {(id) => (
              <Input
                id={id}
                required
                autoFocus
                className="font-mono"
                value={key}
                onChange={(event) => change(() => setKey(event.target.value))}
              />
            )}
          </Field>
        )}
        <Field label="Where">
          {(id) => (
            <Select
              id={id}
              value={layer}
              onChange={(event) => change(() => setLayer(event.target.value))}
            >
              <option value="project">{project} only</option>
              <option value="user">all projects</option>
            </Select>
          )}
        </Field>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={unset}
            onChange={(event) => change(() => setUnset(event.target.checked))}
          />
          Take it out of that file, so that the layer below holds
        </label>
        {!unset && (
          <Field label="Value" note="JSON, or a plain word.">
            {(id) => (
              <TextArea
                id={id}
                required
                className="font-mono"
                value={value}
                onChange={(event) => change(() => setValue(event.target.value))}
              />
            )}
          </Field>
        )}
        {error && (
          <p role="alert" className="text-bad">
            {[error.message, ...error.details].join(" ")}
          </p>
        )}
        {edit && (
          <div className="space-y-1">
            <p className="text-xs text-ink-2">
              This is what changes in <span className="font-mono break-all">{edit.file}</span>
            </p>
            <pre className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 font-mono text-xs">
              {edit.diff || "Nothing changes."}
            </pre>
            {edit.changed_commands.length > 0 && (
              <p className="text-warn">
                Commands change; they run only once you trust them:{" "}
                {edit.changed_commands.join("; ")}
              </p>
            )}
          </div>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={look.isPending || save.isPending}>
            {edit ? "Write it" : "Show the change"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
