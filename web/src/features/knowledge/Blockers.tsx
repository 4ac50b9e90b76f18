import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck, OctagonX } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { api, data, once, type Schemas } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { told } from "@/features/task/useActions";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Dialog } from "@/kit/Dialog";
import { Field, TextArea } from "@/kit/Field";
import { Panel } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { Frame } from "./Frame";
import { TaskLink } from "./look";
import { knowledge } from "./queries";

type View = Schemas["BlockerView"];

/** What runs said to be in the way; those that still are come first. */
export function Blockers() {
  const { project, all } = useSearch({ from: "/frame/knowledge/blockers" });
  const navigate = useNavigate({ from: "/knowledge/blockers" });
  const found = useQuery(knowledge.blockers(project, !!all));
  const [resolving, setResolving] = useState<View | null>(null);
  return (
    <Frame
      actions={
        <label className="flex min-h-8 items-center gap-2 text-ink-2 max-sm:min-h-11">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={!!all}
            onChange={(event) =>
              void navigate({
                search: (before) => ({ ...before, all: event.target.checked ? "yes" : undefined }),
                replace: true,
              })
            }
          />
          Resolved ones, too
        </label>
      }
    >
      <div className="mx-auto w-full max-w-4xl space-y-3 p-4 sm:p-6">
        <Await query={found}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon={<CircleCheck size={28} />} title="Nothing is in the way">
                When a run says that something is, it stands here, and the tasks that it names wait.
              </Empty>
            ) : (
              activeFirst(items).map((one) => (
                <Blocker
                  key={one.blocker.id}
                  view={one}
                  withProject={!project}
                  onResolve={() => setResolving(one)}
                />
              ))
            )
          }
        </Await>
      </div>
      {resolving && <ResolveDialog view={resolving} onClose={() => setResolving(null)} />}
    </Frame>
  );
}

const activeFirst = (items: View[]) => [
  ...items.filter((one) => !one.blocker.resolved_at),
  ...items.filter((one) => one.blocker.resolved_at),
];

function Blocker({
  view: { blocker, project, told_by, tasks },
  withProject,
  onResolve,
}: {
  view: View;
  withProject: boolean;
  onResolve: () => void;
}) {
  const resolved = blocker.resolved_at;
  return (
    <Panel className="p-4">
      <article aria-label={clean(blocker.blocker)} className="space-y-2.5">
        <div className="flex items-start gap-3">
          {resolved ? (
            <CircleCheck size={17} className="mt-0.5 shrink-0 text-good" />
          ) : (
            <OctagonX size={17} className="mt-0.5 shrink-0 text-bad" />
          )}
          <h2 className="min-w-0 flex-1 text-[15px] font-semibold wrap-anywhere">
            {clean(blocker.blocker)}
          </h2>
          {resolved ? (
            <Chip tone="good">resolved</Chip>
          ) : (
            <Button onClick={onResolve}>Resolve…</Button>
          )}
        </div>
        <dl className="grid grid-cols-[8rem_1fr] gap-x-4 gap-y-1.5 max-sm:grid-cols-1 max-sm:gap-y-0.5">
          <Fact name="What it means">{clean(blocker.impact)}</Fact>
          <Fact name="Suggested">{clean(blocker.suggested_resolution)}</Fact>
          <Fact name={resolved ? "It held up" : "It holds up"}>
            {tasks.length === 0 ? (
              "no task that is there"
            ) : (
              <ul className="grid gap-1">
                {tasks.map((task) => (
                  <li key={task.id} className="flex min-w-0 items-center gap-2">
                    <TaskLink task={task} />
                    <span className="text-xs text-ink-3">{clean(task.status)}</span>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name="Told by">
            <span className="flex flex-wrap gap-x-3">
              {told_by ? <TaskLink task={told_by} /> : "a task that is gone"}
              <span className="text-ink-3">
                <Ago time={blocker.created_at} />
                {withProject && ` in ${clean(project.name)}`}
              </span>
            </span>
          </Fact>
          {resolved && (
            <Fact name="Resolved">
              by {clean(blocker.resolved_by ?? "somebody")}, <Ago time={resolved} />
              {blocker.note && <span className="block text-ink-2">{clean(blocker.note)}</span>}
            </Fact>
          )}
        </dl>
      </article>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-ink-3 max-sm:mt-2 max-sm:text-xs">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  );
}

function ResolveDialog({ view: { blocker, tasks }, onClose }: { view: View; onClose: () => void }) {
  const client = useQueryClient();
  const note = useDraft(`blocker:${blocker.id}`, "");
  const resolve = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/blockers/{blocker_id}/resolve", {
          params: { path: { blocker_id: blocker.id } },
          headers: once(),
          body: { note: note.value.trim() },
        }),
      ),
    onSuccess: () => {
      note.forget();
      toast.success("It is out of the way.");
      onClose();
    },
    onError: (error) => toast.error(told(error)),
    onSettled: () => {
      for (const key of ["knowledge", "task"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Is it out of the way?"
      description={
        tasks.length === 0
          ? "It holds up no task that is there."
          : `What it holds up can go on: ${tasks.map((task) => clean(task.title)).join(", ")}.`
      }
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          resolve.mutate();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) resolve.mutate();
        }}
      >
        <blockquote className="line-clamp-4 border-l-2 pl-3 text-ink-2 wrap-anywhere">
          {clean(blocker.blocker)}
        </blockquote>
        <Field label="What came of it" note="May be left out.">
          {(id) => (
            <TextArea
              id={id}
              autoFocus
              value={note.value}
              onChange={(event) => note.set(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" hint="Ctrl+Enter" disabled={resolve.isPending}>
            Resolve it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
