import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { CalendarClock, Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { Page, Panel } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { clean, plural } from "@/kit/text";
import { ScheduleDialog } from "./ScheduleDialog";
import { inZone } from "./times";

type Schedule = Schemas["Schedule"];

const TONES: Record<Schedule["state"], Tone> = {
  active: "good",
  paused: "neutral",
  halted: "bad",
  ended: "neutral",
};

export function Schedules() {
  const { project } = useSearch({ from: "/frame" });
  const [shown, setShown] = useState<Schedule | "new" | null>(null);
  const schedules = useQuery({
    queryKey: ["schedules", project],
    queryFn: () => data(api.GET("/api/v1/schedules", { params: { query: { project } } })),
  });
  return (
    <Page
      title="Schedules"
      note="Tasks that are made again and again, by a rule."
      actions={
        <Button look="primary" onClick={() => setShown("new")}>
          <Plus size={15} /> Add a schedule
        </Button>
      }
    >
      <Await query={schedules}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon={<CalendarClock size={28} />} title="No schedule yet">
              One makes a task at each time of its rule, such as every weekday at 09:00.
            </Empty>
          ) : (
            <Panel className="divide-y">
              {items.map((one) => (
                <One key={one.id} schedule={one} onEdit={() => setShown(one)} />
              ))}
            </Panel>
          )
        }
      </Await>
      {shown && (
        <ScheduleDialog
          schedule={shown === "new" ? null : shown}
          project={project}
          onClose={() => setShown(null)}
        />
      )}
    </Page>
  );
}

function One({ schedule, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const { most, fired } = schedule;
  return (
    <article aria-label={schedule.name} className="space-y-1.5 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-medium">{clean(schedule.name)}</h2>
        <Chip tone={TONES[schedule.state]}>{schedule.state}</Chip>
        {schedule.start && <Chip tone="accent">starts its tasks</Chip>}
        <div className="ml-auto flex gap-2">
          <Acts schedule={schedule} onEdit={onEdit} />
        </div>
      </div>
      {schedule.reason && (
        <p role="alert" className="text-bad">
          {clean(schedule.reason)}
        </p>
      )}
      <p className="text-ink-2">
        {clean(schedule.rule)} · {schedule.zone}
        {schedule.next_at && <> · next {inZone(schedule.next_at, schedule.zone)}</>}
      </p>
      <p className="flex flex-wrap gap-x-4 text-xs text-ink-3">
        <span>{clean(schedule.template.title)}</span>
        <span>{clean(schedule.project)}</span>
        <span>
          {most ? `${fired} of ${most} tasks by the rule` : `${plural(fired, "task")} by the rule`}
        </span>
        {schedule.last_task_id && (
          <Link
            to="/tasks/$taskId"
            params={{ taskId: schedule.last_task_id }}
            className="text-accent-text hover:underline"
          >
            the last one
          </Link>
        )}
      </p>
    </article>
  );
}

function Acts({ schedule, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "pause" | "resume" | "run" | "remove"): Promise<unknown> => {
      const to = { params: { path: { schedule_id: schedule.id } }, headers: once() };
      if (what === "remove") return data(api.DELETE("/api/v1/schedules/{schedule_id}", to));
      if (what === "run") return data(api.POST("/api/v1/schedules/{schedule_id}/run", to));
      return what === "pause"
        ? data(api.POST("/api/v1/schedules/{schedule_id}/pause", to))
        : data(api.POST("/api/v1/schedules/{schedule_id}/resume", to));
    },
    onSuccess: (_, what) => {
      if (what === "run") toast.success("A task was made.");
    },
    onError: (error: ApiError) => toast.error([error.message, ...error.details].join(" ")),
    onSettled: () => client.invalidateQueries({ queryKey: ["schedules"] }),
  });
  const sleeps = schedule.state === "paused" || schedule.state === "halted";
  return (
    <>
      <Button size="small" onClick={() => act.mutate("run")}>
        Run now
      </Button>
      {schedule.state === "active" && (
        <Button size="small" onClick={() => act.mutate("pause")}>
          Pause
        </Button>
      )}
      {sleeps && (
        <Button size="small" onClick={() => act.mutate("resume")}>
          Resume
        </Button>
      )}
      <Button size="small" onClick={onEdit}>
        Edit
      </Button>
      <Confirm
        title={`Remove ${schedule.name}?`}
        action="Remove the schedule"
        onConfirm={() => act.mutate("remove")}
        trigger={(open) => (
          <Button size="small" look="quiet" onClick={open}>
            Remove…
          </Button>
        )}
      >
        The tasks that it made stay.
      </Confirm>
    </>
  );
}
