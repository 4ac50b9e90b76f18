import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Lightbulb, X } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Virtuoso, type VirtuosoHandle } from "react-virtuoso";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Input, Select } from "@/kit/Field";
import { Await, Empty } from "@/kit/State";
import { clean, plural } from "@/kit/text";
import { Frame } from "./Frame";
import { KINDS, STATES } from "./look";
import { type Found, type Kind, knowledge, type State } from "./queries";
import { NodeRow, TaskRow } from "./Rows";
import { byTask, tagsOf, withoutTag, withTag } from "./results";

/** What runs found out and people decided, by words, tags, kind, file and state. */
export function Search() {
  const search = useSearch({ from: "/frame/knowledge" });
  const navigate = useNavigate({ from: "/knowledge" });
  const box = useRef<HTMLInputElement>(null);
  const list = useRef<VirtuosoHandle>(null);
  const q = useDeferredValue(search.q ?? "");
  const file = useDeferredValue(search.file);
  const tags = tagsOf(search.tag);
  const { project, kind, state, task } = search;
  const wanted = { q, tags, kind, state, file, task, project };
  const found = useInfiniteQuery(knowledge.search(wanted));
  const nodes = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const rows = useMemo(() => listed(nodes, search.by === "task"), [nodes, search.by]);
  const [at, setAt] = useState(-1);
  const asked = JSON.stringify([wanted, search.by]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins at its top
  useEffect(() => setAt(-1), [asked]);
  const set = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const go = (by: 1 | -1) => {
    let next = at + by;
    while (rows[next]?.kind === "task") next += by;
    if (!rows[next]) return;
    setAt(next);
    list.current?.scrollIntoView({ index: next });
  };
  useShortcuts("Knowledge", [
    { keys: "f", label: "Filter", run: () => box.current?.focus() },
    { keys: "j", label: "Next finding", run: () => go(1) },
    { keys: "k", label: "Finding before", run: () => go(-1) },
    {
      keys: "o",
      label: "Open the finding",
      run: () => {
        const row = rows[at];
        if (row?.kind === "node")
          void navigate({
            to: "/knowledge/nodes/$nodeId",
            params: { nodeId: row.found.node.id },
          });
      },
    },
  ]);
  const narrowed = !!(search.q || search.tag || kind || state || search.file || task);
  const only = byTask(nodes).tellers.length;
  return (
    <Frame fixed>
      <search className="flex shrink-0 flex-wrap items-center gap-2 border-b px-4 py-2.5 max-sm:grid max-sm:grid-cols-3 sm:px-6">
        <Input
          ref={box}
          type="search"
          aria-label="Words"
          placeholder="Words"
          className="min-w-40 flex-1 max-sm:col-span-3"
          value={search.q ?? ""}
          onChange={(event) => set({ q: event.target.value || undefined })}
        />
        <Select
          aria-label="Kind"
          className="max-sm:w-full"
          value={kind ?? ""}
          onChange={(event) => set({ kind: (event.target.value || undefined) as Kind | undefined })}
        >
          <option value="">Every kind</option>
          {Object.entries(KINDS).map(([id, words]) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </Select>
        <Select
          aria-label="State"
          className="max-sm:w-full"
          value={state ?? ""}
          onChange={(event) =>
            set({ state: (event.target.value || undefined) as State | undefined })
          }
        >
          <option value="">All but retired</option>
          {Object.entries(STATES).map(([id, words]) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </Select>
        <TagChoice project={project} onChoose={(tag) => set({ tag: withTag(search.tag, tag) })} />
        <Input
          aria-label="File or folder"
          placeholder="File or folder"
          className="w-44 font-mono text-xs max-sm:col-span-2 max-sm:w-full"
          value={search.file ?? ""}
          onChange={(event) => set({ file: event.target.value || undefined })}
        />
        <Select
          aria-label="Listed"
          className="max-sm:w-full"
          value={search.by ?? ""}
          onChange={(event) => set({ by: event.target.value ? "task" : undefined })}
        >
          <option value="">As findings</option>
          <option value="task">By task</option>
        </Select>
        {(tags.length > 0 || task) && (
          <ul
            aria-label="Narrowed to"
            className="flex basis-full flex-wrap gap-1.5 max-sm:col-span-3"
          >
            {tags.map((tag) => (
              <Narrowed
                key={tag}
                words={`tag ${tag}`}
                drop={() => set({ tag: withoutTag(search.tag, tag) })}
              />
            ))}
            {task && (
              <Narrowed words="what one task told of" drop={() => set({ task: undefined })} />
            )}
          </ul>
        )}
      </search>
      <p role="status" className="shrink-0 px-4 py-1.5 text-xs text-ink-3 sm:px-6">
        {found.data &&
          `${plural(nodes.length, "finding")}${found.hasNextPage ? " so far" : ""}, told by ${plural(only, "task")}`}
      </p>
      <section aria-label="Findings" className="min-h-0 flex-1 border-t">
        <Await query={found}>
          {() =>
            rows.length === 0 ? (
              <Empty icon={<Lightbulb size={28} />} title="Nothing is known that fits">
                {narrowed
                  ? "Take a filter away, or try fewer words."
                  : "What agents find out is kept here as their runs end."}
              </Empty>
            ) : (
              <Virtuoso
                ref={list}
                data={rows}
                endReached={() =>
                  found.hasNextPage && !found.isFetching && void found.fetchNextPage()
                }
                computeItemKey={(_, row) => row.key}
                itemContent={(index, row) =>
                  row.kind === "task" ? (
                    <TaskRow task={row.task} count={row.count} />
                  ) : (
                    <NodeRow
                      found={row.found}
                      current={index === at}
                      withProject={!project}
                      withTasks={search.by !== "task"}
                      onTag={(tag) => set({ tag: withTag(search.tag, tag) })}
                    />
                  )
                }
              />
            )
          }
        </Await>
      </section>
    </Frame>
  );
}

type Row =
  | { kind: "task"; key: string; task: Found["tasks"][number] | null; count: number }
  | { kind: "node"; key: string; found: Found };

function listed(nodes: Found[], grouped: boolean): Row[] {
  const row = (found: Found, of = ""): Row => ({
    kind: "node",
    key: `${of} ${found.node.id}`,
    found,
  });
  if (!grouped) return nodes.map((one) => row(one));
  const { tellers, others } = byTask(nodes);
  const rows = tellers.flatMap(({ task, found }): Row[] => [
    { kind: "task", key: task.id, task, count: found.length },
    ...found.map((one) => row(one, task.id)),
  ]);
  if (others.length > 0) rows.push({ kind: "task", key: "none", task: null, count: others.length });
  return [...rows, ...others.map((one) => row(one))];
}

function TagChoice({ project, onChoose }: { project?: string; onChoose: (tag: string) => void }) {
  const tags = useQuery(knowledge.tags(project)).data?.items ?? [];
  return (
    <Select
      aria-label="Tag"
      className="max-w-44 max-sm:w-full"
      value=""
      onChange={(event) => event.target.value && onChoose(event.target.value)}
    >
      <option value="">Tag…</option>
      {tags.map(({ tag, count }) => (
        <option key={tag} value={tag}>
          {clean(tag)} ({count})
        </option>
      ))}
    </Select>
  );
}

function Narrowed({ words, drop }: { words: string; drop: () => void }) {
  return (
    <li>
      <Button size="small" onClick={drop} aria-label={`No longer narrowed to: ${clean(words)}`}>
        {clean(words)} <X size={12} />
      </Button>
    </li>
  );
}
