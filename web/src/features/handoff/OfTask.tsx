import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { OctagonX } from "lucide-react";
import type { TaskView } from "@/api/client";
import { knowledge } from "@/features/knowledge/queries";
import { Panel, Section } from "@/kit/Page";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { Handoff } from "./Handoff";
import { Violations } from "./Violations";

/** What is in the way of the task, or that its own runs told of. */
export function TaskBlockers({ view }: { view: TaskView }) {
  const { blockers } = view.memory;
  if (blockers.length === 0) return null;
  return (
    <Section
      title="In the way"
      actions={
        <Link
          to="/knowledge/blockers"
          search={{ project: view.project.name }}
          className="text-xs text-accent-text hover:underline"
        >
          All blockers
        </Link>
      }
    >
      <Panel className="divide-y">
        {blockers.map((one) => (
          <div key={one.id} className="flex gap-3 px-4 py-2.5">
            <OctagonX size={16} className="mt-0.5 shrink-0 text-bad" />
            <div className="min-w-0 flex-1 wrap-anywhere">
              <p className="font-medium">{clean(one.blocker)}</p>
              <p className="text-ink-2">{clean(one.suggested_resolution)}</p>
              <p className="text-xs text-ink-3">
                {one.blocking_tasks.includes(view.task.id)
                  ? "It holds this task up"
                  : "This task told of it; it holds up others"}
                , <Ago time={one.created_at} />
              </p>
            </div>
          </div>
        ))}
      </Panel>
    </Section>
  );
}

/** What the last run left that left anything; and why what the very last said was not kept. */
export function TaskHandoff({ view }: { view: TaskView }) {
  const { handoff } = view.memory;
  const last = view.runs.findLast((run) => run.ended_at);
  const refused = useQuery({
    ...knowledge.handoff(view.task.id, last?.id ?? ""),
    enabled: !!last && last.id !== handoff?.run_id,
  }).data;
  return (
    <>
      <Violations violations={refused?.violations ?? []} />
      {handoff && (
        <Section
          title="What its last run left"
          note={<Ago time={handoff.at} />}
          actions={
            <Link
              to="/knowledge"
              search={{ task: view.task.id, project: view.project.name }}
              className="text-xs text-accent-text hover:underline"
            >
              All that it found out
            </Link>
          }
        >
          <Handoff
            note={handoff.handoff}
            completeness={handoff.completeness}
            task={view.task.id}
            project={view.project.name}
          />
        </Section>
      )}
    </>
  );
}
