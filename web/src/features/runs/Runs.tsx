import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Play, Square } from "lucide-react";
import { toast } from "sonner";
import { api, data, once, type Run } from "@/api/client";
import { queries } from "@/api/queries";
import { useBoard } from "@/features/board/data";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { cx } from "@/kit/cx";
import { Page, Panel, Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Table } from "@/kit/Table";
import { Ago, useAge } from "@/kit/Time";
import { clean, duration, money, plural } from "@/kit/text";

const QUIET_S = 300;
const TONES: Record<string, Tone> = {
  completed: "good",
  running: "accent",
  failed: "bad",
  timed_out: "bad",
  cancelled: "neutral",
};

const stop = (id: string) =>
  data(
    api.POST("/api/v1/runs/{run_id}/stop", { params: { path: { run_id: id } }, headers: once() }),
  );

export function Runs() {
  const { project } = useSearch({ from: "/frame" });
  const live = useQuery(queries.liveRuns());
  const projects = useQuery(queries.projects()).data?.items;
  const chosen = projects?.find((one) => one.name === project)?.id;
  const mine = live.data?.items.filter((run) => !chosen || run.project_id === chosen) ?? [];
  const stopping = useMutation({
    mutationFn: (ids: string[]) => Promise.all(ids.map(stop)),
    onError: (error) => toast.error(error.message),
  });
  return (
    <Page
      title="Runs"
      note="Every agent that works now, and those that did."
      actions={
        mine.length > 1 && (
          <Confirm
            title={`Stop ${plural(mine.length, "run")}?`}
            action="Stop all"
            onConfirm={() => stopping.mutate(mine.map((run) => run.id))}
            trigger={(open) => (
              <Button look="danger" onClick={open}>
                <Square size={13} /> Stop all
              </Button>
            )}
          >
            Work that was not committed is kept. Each task stays where it is and asks what to do.
          </Confirm>
        )
      }
    >
      <Section title="Now" note={live.data && plural(mine.length, "run")}>
        <Await query={live} rows={2}>
          {() =>
            mine.length === 0 ? (
              <Panel>
                <Empty icon={<Play size={24} />} title="No agent works now">
                  Start a task, and it is seen here.
                </Empty>
              </Panel>
            ) : (
              <Panel className="divide-y">
                {mine.map((run) => (
                  <LiveRun
                    key={run.id}
                    run={run}
                    project={project}
                    onStop={() => stopping.mutate([run.id])}
                  />
                ))}
              </Panel>
            )
          }
        </Await>
      </Section>
      <Past chosen={chosen} />
    </Page>
  );
}

function LiveRun({ run, project, onStop }: { run: Run; project?: string; onStop: () => void }) {
  const card = useBoard(project).data?.cards.find((one) => one.id === run.task_id);
  const sign = card?.run?.printed_at ?? run.started_at;
  const age = useAge(sign);
  const quiet = run.status === "running" && age !== null && age > QUIET_S;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2.5">
      <span
        className={cx(
          "size-2 rounded-full",
          run.status !== "running" ? "bg-line-strong" : quiet ? "bg-warn" : "pulse-dot bg-good",
        )}
      />
      <Link
        to="/tasks/$taskId"
        params={{ taskId: run.task_id }}
        search={{ tab: "transcript", run: run.id }}
        className="min-w-0 flex-1 basis-48 truncate font-medium hover:underline"
      >
        {clean(card?.title ?? run.task_id)}
      </Link>
      <span className="text-ink-2">
        {run.agent ?? "agent"} · {run.mode}
      </span>
      <span className={cx("text-xs text-ink-3 tabular-nums", quiet && "font-medium text-warn")}>
        {run.status !== "running"
          ? run.status
          : `${quiet ? "quiet for" : "last sign of life"} ${duration(age)}${quiet ? "" : " ago"}`}
      </span>
      <Button
        size="small"
        look="quiet"
        onClick={onStop}
        aria-label={`Stop ${card?.title ?? run.id}`}
      >
        <Square size={12} /> Stop
      </Button>
    </div>
  );
}

function Past({ chosen }: { chosen: string | undefined }) {
  const runs = useInfiniteQuery({
    queryKey: ["runs", "all"],
    queryFn: ({ pageParam }) =>
      data(api.GET("/api/v1/runs", { params: { query: { limit: 50, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
  });
  const ended = (runs.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (run) => run.ended_at && (!chosen || run.project_id === chosen),
  );
  return (
    <Section title="Ended">
      <Await query={runs}>
        {() => (
          <>
            <Table
              label="Runs that ended"
              rows={ended}
              rowKey={(run) => run.id}
              columns={[
                {
                  title: "Run",
                  cell: (run) => (
                    <Link
                      to="/tasks/$taskId"
                      params={{ taskId: run.task_id }}
                      search={{ tab: "transcript", run: run.id }}
                      className="font-mono text-xs hover:underline"
                    >
                      {run.id}
                    </Link>
                  ),
                },
                { title: "Agent", cell: (run) => run.agent ?? "unknown" },
                { title: "Mode", cell: (run) => run.mode, minor: true },
                {
                  title: "End",
                  cell: (run) => (
                    <Chip tone={TONES[run.status] ?? "neutral"} title={run.error?.error}>
                      {run.outcome ?? run.status.replace("_", " ")}
                    </Chip>
                  ),
                },
                { title: "Cost", cell: (run) => money(run.cost_usd), right: true, minor: true },
                {
                  title: "When",
                  cell: (run) => run.ended_at && <Ago time={run.ended_at} />,
                  right: true,
                },
              ]}
            />
            {runs.hasNextPage && (
              <Button onClick={() => runs.fetchNextPage()} disabled={runs.isFetchingNextPage}>
                Show more
              </Button>
            )}
          </>
        )}
      </Await>
    </Section>
  );
}
