import { cx } from "@/kit/cx";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { KindChip, NodeLink, SeverityChip, StateChip, TaskLink, Worth } from "./look";
import type { Found, TaskRef } from "./queries";

const SHOWN = 3;

/** A finding in a list: what it says, and in one line what there is to it. */
export function NodeRow({
  found,
  current,
  withProject,
  withTasks,
  onTag,
}: {
  found: Found;
  current: boolean;
  withProject: boolean;
  withTasks: boolean;
  onTag: (tag: string) => void;
}) {
  const { node, tasks, project } = found;
  return (
    <article
      aria-current={current || undefined}
      aria-label={clean(node.text)}
      className={cx(
        "flex gap-3 border-b px-4 py-2 hover:bg-hover/60 sm:px-6",
        current && "bg-accent-soft hover:bg-accent-soft",
      )}
    >
      <span className="w-20 shrink-0 pt-px max-sm:hidden">
        <KindChip kind={node.kind} />
      </span>
      <div className="min-w-0 flex-1 space-y-1">
        <p className="line-clamp-2">
          <span className="mr-1.5 sm:hidden">
            <KindChip kind={node.kind} />
          </span>
          <NodeLink node={node} />
        </p>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
          {node.severity && <SeverityChip severity={node.severity} />}
          {node.state !== "active" && <StateChip state={node.state} />}
          {node.tags.map((tag) => (
            <button
              key={tag}
              type="button"
              title={`Only what is tagged ${clean(tag)}`}
              onClick={() => onTag(tag)}
              className="-mx-1 rounded px-1 text-ink-2 hover:bg-hover hover:text-ink max-sm:min-h-8"
            >
              #{clean(tag)}
            </button>
          ))}
          {withTasks &&
            tasks.slice(0, SHOWN).map((task) => (
              <span key={task.id} className="flex max-w-64 min-w-0">
                <TaskLink task={task} />
              </span>
            ))}
          {withTasks && tasks.length > SHOWN && (
            <span>and {plural(tasks.length - SHOWN, "task")} more</span>
          )}
          {withProject && <span>{clean(project.name)}</span>}
          <Worth used={node.used} helpful={node.helpful} />
          <Ago time={node.created_at} />
        </div>
      </div>
    </article>
  );
}

/** Above what a task told of. */
export function TaskRow({ task, count }: { task: TaskRef | null; count: number }) {
  return (
    <h2 className="flex items-center gap-3 border-b bg-sunken px-4 py-2 text-[13px] font-semibold sm:px-6">
      <span className="flex min-w-0 flex-1">
        {task ? <TaskLink task={task} /> : "Told by no task that is still there"}
      </span>
      {task && <span className="text-xs font-normal text-ink-3">{clean(task.status)}</span>}
      <span className="text-xs font-normal text-ink-3">{plural(count, "finding")}</span>
    </h2>
  );
}
