import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, api, data, once, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { inZone, zoneHere } from "./times";

type Schedule = Schemas["Schedule"];

/** Adds a schedule, or changes one. */
export function ScheduleDialog({
  schedule,
  project,
  onClose,
}: {
  schedule: Schedule | null;
  project?: string;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const projects = useQuery(queries.projects()).data?.items ?? [];
  const [form, setForm] = useState({
    project: schedule?.project ?? project ?? "",
    name: schedule?.name ?? "",
    rule: schedule?.rule ?? "weekdays at 09:00",
    zone: schedule?.zone ?? zoneHere(),
    title: schedule?.template.title ?? "",
    description: schedule?.template.description ?? "",
    start: schedule?.start ?? false,
    queue: schedule?.when_open === "queue",
    most: schedule?.most?.toString() ?? "",
  });
  const set = (part: Partial<typeof form>) => setForm({ ...form, ...part });
  const chosen = form.project || projects[0]?.name || "";
  const save = useMutation({
    mutationFn: () => {
      const said = {
        name: form.name,
        rule: form.rule,
        zone: form.zone,
        start: form.start,
        when_open: form.queue ? ("queue" as const) : ("skip" as const),
        most: form.most ? Number(form.most) : null,
        task: { title: form.title, description: form.description },
      };
      const body = chosen === schedule?.project ? said : { ...said, project: chosen };
      return schedule
        ? data(
            api.PATCH("/api/v1/schedules/{schedule_id}", {
              params: { path: { schedule_id: schedule.id } },
              headers: once(),
              body,
            }),
          )
        : data(
            api.POST("/api/v1/schedules", { headers: once(), body: { ...said, project: chosen } }),
          );
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["schedules"] });
      onClose();
    },
  });
  const error = save.error as ApiError | null;
  return (
    <Dialog open onClose={onClose} title={schedule ? "Change the schedule" : "Add a schedule"}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <div className="grid grid-cols-2 gap-3">
          <Words label="Name" value={form.name} onChange={(name) => set({ name })} />
          <Field label="Project">
            {(id) => (
              <Select
                id={id}
                className="w-full"
                value={chosen}
                onChange={(event) => set({ project: event.target.value })}
              >
                {projects.map((one) => (
                  <option key={one.id}>{one.name}</option>
                ))}
              </Select>
            )}
          </Field>
          <Words label="Rule" value={form.rule} onChange={(rule) => set({ rule })} />
          <Words label="Time zone" value={form.zone} onChange={(zone) => set({ zone })} />
        </div>
        <Preview rule={form.rule} zone={form.zone} />
        <Words
          label="Title of its tasks"
          note="{date} becomes the day."
          value={form.title}
          onChange={(title) => set({ title })}
        />
        <Field label="What is to be done" note="Markdown. The agent gets it word for word.">
          {(id) => (
            <TextArea
              id={id}
              rows={4}
              value={form.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
        <Switch on={form.start} onChange={(start) => set({ start })}>
          Start the tasks, which spends money; else they are only created
        </Switch>
        <Switch on={form.queue} onChange={(queue) => set({ queue })}>
          Also while the last task is open
        </Switch>
        <Field label="How many tasks in all" note="Empty: no end.">
          {(id) => (
            <Input
              id={id}
              type="number"
              min={1}
              value={form.most}
              onChange={(event) => set({ most: event.target.value })}
            />
          )}
        </Field>
        {error && (
          <p role="alert" className="text-bad">
            {error.message} {error.details?.join("; ")}
          </p>
        )}
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={save.isPending}>
            {schedule ? "Change it" : "Add it"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** When the rule would fire, or what is wrong with it. */
function Preview({ rule, zone }: { rule: string; zone: string }) {
  const found = useQuery({
    queryKey: ["schedules", "preview", rule, zone],
    queryFn: () =>
      data(api.GET("/api/v1/schedules/preview", { params: { query: { rule, zone } } })),
    retry: false,
    enabled: rule.trim() !== "",
  });
  if (found.error)
    return (
      <p role="alert" className="text-xs text-bad">
        {found.error.message}
      </p>
    );
  return (
    <ol aria-label="Next times" className="text-xs text-ink-2 tabular-nums">
      {found.data?.next.map((time) => (
        <li key={time}>{inZone(time, zone)}</li>
      ))}
    </ol>
  );
}

function Words({
  label,
  note,
  value,
  onChange,
}: {
  label: string;
  note?: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} note={note}>
      {(id) => (
        <Input id={id} required value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

function Switch({
  on,
  onChange,
  children,
}: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: string;
}) {
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.target.checked)} />
      {children}
    </label>
  );
}
