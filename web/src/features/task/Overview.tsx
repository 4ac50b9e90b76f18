import type { TaskView } from "@/api/client";
import { TaskBlockers, TaskHandoff } from "@/features/handoff/OfTask";
import { RaceBoard } from "@/features/race/RaceBoard";
import { Markdown } from "@/kit/Markdown";
import { Section } from "@/kit/Page";
import { clean } from "@/kit/text";
import { Artifacts } from "./Artifacts";
import { Dependencies } from "./Dependencies";
import { Documents } from "./Documents";
import { Facts } from "./Facts";
import { Phases } from "./Phases";
import { Snapshots } from "./Snapshots";

export function Overview({
  view,
  round,
}: {
  view: TaskView;
  round: { number: number; max: number; status: string } | null;
}) {
  const { task } = view;
  return (
    <div className="max-w-4xl space-y-7 p-4 pb-12 sm:p-6">
      <details className="rounded-xl border bg-raised px-4 xl:hidden">
        <summary className="flex min-h-11 items-center text-[13px] font-semibold">Facts</summary>
        <div className="pb-4">
          <Facts view={view} round={round} />
        </div>
      </details>
      <Section title="Why it is where it is">
        <p className="max-w-3xl leading-relaxed break-words text-ink-2">{clean(view.why)}</p>
      </Section>
      {view.raced && <RaceBoard view={view} />}
      <TaskBlockers view={view} />
      {view.phases.length > 0 && <Phases task={task.id} phases={view.phases} />}
      <Section title="What is to be done">
        {task.description.trim() ? (
          <Markdown text={task.description} className="max-w-3xl" />
        ) : (
          <p className="text-ink-3">No words but the title.</p>
        )}
      </Section>
      {task.objective.trim() && (
        <Section title="Objective">
          <Markdown text={task.objective} className="max-w-3xl" />
        </Section>
      )}
      {task.acceptance_criteria.length > 0 && (
        <Section title="Acceptance criteria">
          <ul className="max-w-3xl list-disc space-y-1 pl-5">
            {task.acceptance_criteria.map((one, index) => (
              <li key={index} className="break-words">
                {clean(one)}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <TaskHandoff view={view} />
      <Documents view={view} />
      {task.dependencies.length > 0 && <Dependencies ids={task.dependencies} />}
      {view.artifacts.length > 0 && <Artifacts artifacts={view.artifacts} />}
      <Snapshots view={view} />
    </div>
  );
}
