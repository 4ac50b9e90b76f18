import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { List } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { Virtuoso } from "react-virtuoso";
import { api, data, type Task } from "@/api/client";
import { queries } from "@/api/queries";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Input, Select } from "@/kit/Field";
import { Await, Empty } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { ImportDialog } from "./ImportDialog";

const PAGE = 200;

/** Every task, the newest first, however many there are. */
export function Tasks() {
  const search = useSearch({ from: "/frame/tasks" });
  const navigate = useNavigate({ from: "/tasks" });
  const box = useRef<HTMLInputElement>(null);
  const [importing, setImporting] = useState(false);
  const title = useDeferredValue(search.q);
  const { project, status } = search;
  const tasks = useInfiniteQuery({
    queryKey: ["tasks", project ?? "", status ?? "", title ?? ""],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/api/v1/tasks", {
          params: { query: { project, status, title, limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    placeholderData: (before) => before,
  });
  const rows = useMemo(() => tasks.data?.pages.flatMap((page) => page.items) ?? [], [tasks.data]);
  const pipelines = useQuery(queries.pipelines()).data?.items ?? [];
  const projects = new Map(
    useQuery(queries.projects()).data?.items.map((one) => [one.id, one.name]),
  );
  const statuses = new Map(
    pipelines.flatMap((one) => one.statuses.map((each): [string, string] => [each.id, each.title])),
  );
  const set = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  useShortcuts("Tasks", [{ keys: "f", label: "Filter", run: () => box.current?.focus() }]);
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-2 px-4 py-2.5">
        <h1 className="mr-auto text-lg font-semibold">Tasks</h1>
        <Button onClick={() => setImporting(true)}>Import…</Button>
        <ImportDialog open={importing} onClose={() => setImporting(false)} />
        <Input
          ref={box}
          type="search"
          aria-label="Part of the title"
          placeholder="Part of the title"
          className="w-56 max-sm:w-full"
          value={search.q ?? ""}
          onChange={(event) => set({ q: event.target.value || undefined })}
        />
        <Select
          aria-label="Status"
          value={status ?? ""}
          onChange={(event) => set({ status: event.target.value || undefined })}
        >
          <option value="">Every status</option>
          {[...statuses].map(([id, words]) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </Select>
      </div>
      <div className="min-h-0 flex-1 border-t">
        <Await query={tasks}>
          {() =>
            rows.length === 0 ? (
              <Empty icon={<List size={28} />} title="No such task">
                {search.q || status
                  ? "Nothing fits the filter."
                  : "Press c to create the first one."}
              </Empty>
            ) : (
              <Virtuoso
                data={rows}
                endReached={() =>
                  tasks.hasNextPage && !tasks.isFetching && void tasks.fetchNextPage()
                }
                computeItemKey={(_, task) => task.id}
                itemContent={(_, task) => (
                  <Row
                    task={task}
                    status={statuses.get(task.status) ?? task.status}
                    project={project ? undefined : projects.get(task.project_id)}
                  />
                )}
              />
            )
          }
        </Await>
      </div>
    </div>
  );
}

function Row({ task, status, project }: { task: Task; status: string; project?: string }) {
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: task.id }}
      className="flex h-11 items-center gap-3 border-b px-4 hover:bg-hover/60 max-sm:h-14"
    >
      <span className="w-28 shrink-0 truncate max-sm:w-24">
        <Chip>{status}</Chip>
      </span>
      <span className="min-w-0 flex-1 truncate font-medium">{clean(task.title)}</span>
      {project && <span className="w-32 truncate text-xs text-ink-3 max-sm:hidden">{project}</span>}
      <span className="w-20 text-xs text-ink-3 max-sm:hidden">{task.type}</span>
      <span className="w-20 text-xs text-ink-3 max-sm:hidden">{task.priority}</span>
      <span className="w-28 text-right text-xs text-ink-3 max-sm:w-16">
        <Ago time={task.updated_at} suffix="" />
      </span>
    </Link>
  );
}
