import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TaskView } from "@/api/client";
import { Chip } from "@/kit/Chip";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { StartsAt } from "./StartsAt";
import { issueOf } from "./source";

/** The small facts of a task: beside its page on a desktop, folded within it on a phone. */
export function Facts({
  view,
  round,
}: {
  view: TaskView;
  round: { number: number; max: number; status: string } | null;
}) {
  const { task } = view;
  const issue = issueOf(view);
  return (
    <dl className="grid grid-cols-[5.5rem_1fr] gap-x-3 gap-y-2 text-[13px]">
      <Fact name="Priority">{task.priority}</Fact>
      <Fact name="Type">{task.type}</Fact>
      {task.agent && (
        <Fact name="Agent">
          {clean(task.agent)}
          {task.model && ` (${clean(task.model)})`}
        </Fact>
      )}
      <Fact name="Size">{task.size}</Fact>
      <Fact name="Complexity">{task.complexity}</Fact>
      {task.tags.length > 0 && (
        <Fact name="Tags">
          <span className="flex flex-wrap gap-1">
            {task.tags.map((tag) => (
              <Chip key={tag}>{clean(tag)}</Chip>
            ))}
          </span>
        </Fact>
      )}
      <Fact name="Pipeline">
        <Link
          to="/pipelines/$pipelineId"
          params={{ pipelineId: task.pipeline_id }}
          search={{ version: task.pipeline_version, task: task.id }}
          className="text-accent-text hover:underline"
        >
          {clean(task.pipeline_id)} {task.pipeline_version}
        </Link>
      </Fact>
      {issue && (
        <Fact name="Issue">
          <a
            href={issue.url}
            rel="noreferrer noopener"
            target="_blank"
            className="text-accent-text hover:underline"
          >
            {clean(issue.name)}
          </a>
        </Fact>
      )}
      {round && (
        <Fact name="Round">
          {round.number} of {round.max}
        </Fact>
      )}
      {task.starts_at && (
        <Fact name="Starts">
          <StartsAt task={task} />
        </Fact>
      )}
      <Fact name="Created">
        <Ago time={task.created_at} />
      </Fact>
      <Fact name="Changed">
        <Ago time={task.updated_at} />
      </Fact>
      <Fact name="Version">{task.version}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
