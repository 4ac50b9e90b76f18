import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { toast } from "sonner";
import type { TaskView } from "@/api/client";
import { queries } from "@/api/queries";
import { useShortcuts } from "@/app/keys";
import { PromptPanel } from "@/features/prompts/PromptPanel";
import { RaceDialog } from "@/features/race/RaceDialog";
import { Transcript } from "@/features/transcript/Transcript";
import { Button } from "@/kit/Button";
import { completeId } from "@/kit/ids";
import { Await, Loading } from "@/kit/State";
import { clean } from "@/kit/text";
import type { Tab } from "@/router";
import { DeleteDialog } from "./DeleteDialog";
import { EditDialog } from "./EditDialog";
import { Facts } from "./Facts";
import { ForceDialog } from "./ForceDialog";
import { MoveDialog } from "./MoveDialog";
import { Overview } from "./Overview";
import { taskQueries } from "./queries";
import { RunDialog } from "./RunDialog";
import { RunsTab } from "./RunsTab";
import { Sure } from "./Sure";
import { again, type Choice, choices } from "./situation";
import { Tabs, tabsOf } from "./Tabs";
import { TaskHeader, type Wish } from "./TaskHeader";
import { Timeline } from "./Timeline";
import { useActions } from "./useActions";

const Changes = lazy(() =>
  import("@/features/changes/Changes").then((found) => ({ default: found.Changes })),
);

const Stages = lazy(() =>
  import("@/features/stages/Stages").then((found) => ({ default: found.Stages })),
);
const NoStages = lazy(() =>
  import("@/features/stages/Stages").then((found) => ({ default: found.NoStages })),
);

export function TaskPage() {
  const { taskId } = useParams({ from: "/frame/tasks/$taskId" });
  const { run } = useSearch({ from: "/frame/tasks/$taskId" });
  const view = useQuery(queries.task(taskId));
  return (
    <Await query={view}>
      {(found) => {
        // Events carry full ids, so a page under a short id would never be updated.
        const id = found.task.id;
        const fullRun =
          run &&
          completeId(
            found.runs.map((one) => one.id),
            run,
          );
        if (id !== taskId || fullRun !== run)
          return (
            <Navigate
              to="/tasks/$taskId"
              params={{ taskId: id }}
              search={(before) => ({ ...before, run: fullRun })}
              hash
              replace
            />
          );
        return <Shown key={taskId} view={found} />;
      }}
    </Await>
  );
}

function Shown({ view }: { view: TaskView }) {
  const { tab = "overview", run: chosen, project } = useSearch({ from: "/frame/tasks/$taskId" });
  const navigate = useNavigate({ from: "/tasks/$taskId" });
  const client = useQueryClient();
  const id = view.task.id;
  const admin = useQuery(queries.me()).data?.admin ?? false;
  const pipeline = useQuery(queries.pipeline(view.task.pipeline_id, view.task.pipeline_version));
  const statuses = pipeline.data?.statuses ?? [];
  const card = useQuery(taskQueries.card(id, view.run !== null)).data;
  const staged = statuses.some((status) => status.stage !== null);
  const all = choices(view, statuses);
  const actions = useActions(view);
  const [menu, setMenu] = useState(false);
  const [wished, setWished] = useState<Wish | null>(null);
  const close = () => setWished(null);

  const move = ({ move: { to }, stops }: Choice) => actions.move.mutate({ to, stop: stops });
  const wish = (what: Wish) => {
    if (typeof what === "object" && !what.ends && !what.stops) move(what);
    else setWished(what);
  };
  const retry = () => {
    const how = again(view);
    if (how?.kind === "now") actions.retry.mutate(how.run);
    else if (how) actions.run.mutate({ settings: {} });
    else toast(view.run ? "The agent is at work." : "There is nothing to try again.");
  };
  const show = (to: Tab) =>
    void navigate({ search: (before) => ({ ...before, tab: to, run: undefined }), hash: "" });
  const beside = async (by: 1 | -1) => {
    const { items } = await client.fetchQuery(taskQueries.neighbours(project));
    const at = items.findIndex((task) => task.id === id);
    const next = at < 0 ? undefined : items[at + by];
    if (next)
      void navigate({
        params: { taskId: next.id },
        search: (before) => ({ ...before, run: undefined }),
        hash: "",
      });
    else toast(by === 1 ? "This is the last task." : "This is the first task.");
  };
  useShortcuts("Task", [
    ...tabsOf(staged).map(([name, label], index) => ({
      keys: String(index + 1),
      label,
      run: () => show(name),
    })),
    { keys: "t", label: "Move the task", run: () => setMenu(true) },
    { keys: "r", label: "Retry", run: retry },
    { keys: ".", label: "Stop the agent", run: () => view.run && setWished("stop") },
    { keys: "[", label: "Task before", run: () => void beside(-1) },
    { keys: "]", label: "Next task", run: () => void beside(1) },
  ]);
  const signAt = card?.run?.printed_at ?? null;
  return (
    <div className="flex min-h-full">
      <div className="flex min-w-0 flex-1 flex-col">
        <TaskHeader
          view={view}
          all={all}
          admin={admin}
          signAt={signAt}
          menu={menu}
          setMenu={setMenu}
          wish={wish}
          onRetry={retry}
          onStart={() => actions.start.mutate()}
        />
        {view.prompts
          // A review is answered below the changes, with the comments on them.
          .filter((prompt) => tab !== "changes" || prompt.type !== "review")
          .map((prompt) => (
            <Asked
              key={prompt.id}
              id={prompt.id}
              aside={tab === "transcript" || tab === "changes" || tab === "stages"}
            />
          ))}
        <Tabs tab={tab} runs={view.runs.length} staged={staged} />
        {tab === "transcript" || tab === "changes" ? (
          <div className="relative min-h-[50dvh] flex-1">
            <div className="absolute inset-0">
              <Suspense fallback={<Loading />}>
                {tab === "changes" ? (
                  <Changes taskId={id} />
                ) : (
                  <Transcript taskId={id} runs={view.runs} chosen={chosen} signAt={signAt} />
                )}
              </Suspense>
            </div>
          </div>
        ) : (
          <Suspense fallback={<Loading />}>
            {tab === "overview" && <Overview view={view} round={card?.round ?? null} />}
            {tab === "timeline" && <Timeline view={view} />}
            {tab === "runs" && <RunsTab view={view} run={actions.run} />}
            {tab === "stages" && pipeline.data && (staged ? <Stages view={view} /> : <NoStages />)}
          </Suspense>
        )}
      </div>
      <aside aria-label="Facts" className="hidden w-64 shrink-0 border-l xl:block">
        <div className="sticky top-0 p-5">
          <Facts view={view} round={card?.round ?? null} />
        </div>
      </aside>
      {wished === "stop" && view.run && (
        <Sure
          title="Stop the agent?"
          action="Stop the agent"
          onClose={close}
          onSure={() => {
            close();
            if (view.run) actions.stop.mutate(view.run.id);
          }}
        >
          <p>The task stays where it is, and you are asked how to go on.</p>
          <p>Work that the agent did not commit is kept.</p>
        </Sure>
      )}
      {wished === "run" && <RunDialog view={view} run={actions.run} onClose={close} />}
      {wished === "race" && <RaceDialog view={view} onClose={close} />}
      {wished === "edit" && <EditDialog view={view} onClose={close} />}
      {wished === "delete" && <DeleteDialog view={view} onClose={close} />}
      {wished === "force" && (
        <ForceDialog
          view={view}
          statuses={statuses}
          onClose={close}
          onMove={(to, reason) => {
            close();
            actions.move.mutate({ to, reason, force: true, stop: view.run !== null });
          }}
        />
      )}
      {typeof wished === "object" && wished && (
        <MoveDialog
          choice={wished}
          onClose={close}
          onMove={() => {
            close();
            move(wished);
          }}
        />
      )}
    </div>
  );
}

/** A question that the task waits with, before anything else; one line of it where something long is
 * read below. */
function Asked({ id, aside }: { id: string; aside: boolean }) {
  const item = useQuery(queries.prompt(id)).data;
  const [open, setOpen] = useState(false);
  if (!item) return <Loading rows={2} className="mx-4 sm:mx-6" />;
  if (aside && !open)
    return (
      <div className="mx-4 mb-3 flex items-center gap-3 rounded-lg bg-you-soft px-3 py-1.5 text-you sm:mx-6">
        <span className="min-w-0 flex-1 truncate">{clean(item.summary)}</span>
        <Button size="small" onClick={() => setOpen(true)}>
          Answer
        </Button>
      </div>
    );
  return (
    <div className="px-4 pb-4 sm:px-6">
      <PromptPanel item={item} className="border-you/40" />
    </div>
  );
}
