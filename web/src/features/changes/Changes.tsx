import { Virtualizer } from "@pierre/diffs/react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileDiff as FileIcon, GitCommitHorizontal } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Virtuoso } from "react-virtuoso";
import { queries } from "@/api/queries";
import { useDraft } from "@/app/drafts";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Select } from "@/kit/Field";
import { Await, Empty } from "@/kit/State";
import { clean, plural } from "@/kit/text";
import { changesQuery, commentsQuery, useViewed } from "./data";
import { type FileActions, FileDiff, Threads } from "./FileDiff";
import { Highlighting } from "./Highlighting";
import {
  BLANK,
  CHUNK,
  type ChangedFile,
  foldedAtFirst,
  type Review,
  sums,
  type Thread,
} from "./model";
import { ReviewBar } from "./ReviewBar";

export function Changes({ taskId }: { taskId: string }) {
  const { since } = useSearch({ from: "/frame/tasks/$taskId" });
  const round = since === undefined ? undefined : Number(since);
  const changes = useQuery(changesQuery(taskId, round));
  return (
    <Await query={changes}>
      {(data) =>
        data.head_sha === null ? (
          <Empty icon={<GitCommitHorizontal size={28} />} title="Nothing was committed yet">
            What an agent commits for this task is seen here.
          </Empty>
        ) : (
          <Highlighting>
            <Files taskId={taskId} since={round} data={data} head={data.head_sha} />
          </Highlighting>
        )
      }
    </Await>
  );
}

type Data = NonNullable<ReturnType<typeof useChanges>>;
const useChanges = (task: string) => useQuery(changesQuery(task)).data;

function Files({
  taskId,
  since,
  data,
  head,
}: {
  taskId: string;
  since?: number;
  data: Data;
  head: string;
}) {
  const navigate = useNavigate({ from: "/tasks/$taskId" });
  const { file: wanted } = useSearch({ from: "/frame/tasks/$taskId" });
  const { files } = data;
  const at = Math.max(
    0,
    files.findIndex((one) => one.path === wanted),
  );
  const chunk = Math.floor(at / CHUNK);
  const shown = files.slice(chunk * CHUNK, (chunk + 1) * CHUNK);
  const [folds, setFolds] = useState<Record<string, boolean>>({});
  const [split, setSplit] = useState(false);
  const { viewed, set: view } = useViewed(taskId, head);
  const draft = useDraft<Review>(`review:${taskId}`, BLANK);
  const comments = useQuery(commentsQuery(taskId));
  const { byFile, beside } = useMemo(
    () => sorted(comments.data?.items ?? [], files),
    [comments.data, files],
  );
  const pane = useRef<HTMLDivElement>(null);
  const go = (path: string) =>
    void navigate({ search: (before) => ({ ...before, file: path }), replace: true });
  const actions = useMemo<FileActions>(
    () => ({
      fold: (path, folded) => setFolds((before) => ({ ...before, [path]: folded })),
      view,
      add: (file, line) =>
        draft.set((before) => ({
          ...before,
          comments: [
            ...before.comments,
            {
              id: `${Date.now()}-${before.comments.length}`,
              file,
              line,
              severity: "must_fix",
              text: "",
            },
          ],
        })),
      edit: (comment) =>
        draft.set((before) => ({
          ...before,
          comments: before.comments.map((one) => (one.id === comment.id ? comment : one)),
        })),
      remove: (id) =>
        draft.set((before) => ({
          ...before,
          comments: before.comments.filter((one) => one.id !== id),
        })),
    }),
    [view, draft.set],
  );
  useEffect(() => {
    if (!wanted) return;
    pane.current
      ?.querySelector(`[data-file="${CSS.escape(wanted)}"]`)
      ?.scrollIntoView({ block: "start" });
  }, [wanted]);
  const step = (by: number) => {
    const next = files[at + by];
    if (next) go(next.path);
  };
  useShortcuts("Changes", [
    { keys: "j", label: "Next file", run: () => step(1) },
    { keys: "k", label: "Previous file", run: () => step(-1) },
    {
      keys: "v",
      label: "Mark the file as viewed",
      run: () => {
        const path = files[at]?.path;
        if (!path) return;
        view(path, !viewed.has(path));
        actions.fold(path, !viewed.has(path));
        step(1);
      },
    },
    { keys: "u", label: "Side by side or in one column", run: () => setSplit(!split) },
  ]);
  const total = sums(files);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <Select
          aria-label="Which changes"
          value={since ?? ""}
          onChange={(event) =>
            void navigate({
              search: (before) => ({
                ...before,
                since: event.target.value || undefined,
                file: undefined,
              }),
            })
          }
        >
          <option value="">All changes</option>
          {[...data.rounds].reverse().map((round, index) => (
            <option key={round.number} value={round.number}>
              Since {index === 0 ? "the last review" : `review ${round.number}`} ({clean(round.by)})
            </option>
          ))}
        </Select>
        <span className="text-xs text-ink-2">
          {plural(files.length, "file")} · <span className="text-good">+{total.additions}</span>{" "}
          <span className="text-bad">−{total.deletions}</span> · {viewed.size} viewed
        </span>
        <Button
          size="small"
          look="quiet"
          className="ml-auto max-sm:hidden"
          onClick={() => setSplit(!split)}
          hint="u"
        >
          {split ? "One column" : "Side by side"}
        </Button>
      </div>
      <div className="flex min-h-0 flex-1">
        <nav aria-label="Changed files" className="w-64 shrink-0 border-r max-lg:hidden">
          <Virtuoso
            data={files}
            computeItemKey={(_, file) => file.path}
            itemContent={(_, file) => (
              <FileLink
                file={file}
                current={file.path === files[at]?.path}
                viewed={viewed.has(file.path)}
                onGo={() => go(file.path)}
              />
            )}
          />
        </nav>
        <div ref={pane} className="flex min-h-0 min-w-0 flex-1 flex-col">
          {files.length === 0 && (
            <Empty icon={<FileIcon size={28} />} title="Nothing changed since then" />
          )}
          {files.length > CHUNK && (
            <div className="flex items-center gap-2 border-b px-3 py-1.5 text-xs text-ink-2">
              Files {chunk * CHUNK + 1} to {chunk * CHUNK + shown.length} of {files.length}
              <Button
                size="small"
                disabled={chunk === 0}
                onClick={() => go(files[(chunk - 1) * CHUNK]?.path ?? "")}
              >
                Before
              </Button>
              <Button
                size="small"
                disabled={(chunk + 1) * CHUNK >= files.length}
                onClick={() => go(files[(chunk + 1) * CHUNK]?.path ?? "")}
              >
                Next
              </Button>
            </div>
          )}
          <Virtualizer className="min-h-0 flex-1 overflow-y-auto" contentClassName="p-3">
            <Beside taskId={taskId} query={comments} said={beside} data={data} />
            {shown.map((file) => (
              <FileDiff
                key={file.path}
                task={taskId}
                head={head}
                since={since}
                file={file}
                folded={folds[file.path] ?? (viewed.has(file.path) || foldedAtFirst(file))}
                viewed={viewed.has(file.path)}
                split={split}
                mine={draft.value.comments.filter((one) => one.file === file.path)}
                said={byFile.get(file.path) ?? NONE}
                rounds={data.rounds}
                actions={actions}
              />
            ))}
          </Virtualizer>
        </div>
      </div>
      <Pending taskId={taskId} review={draft.value} onChange={draft.set} onSent={draft.forget} />
    </div>
  );
}

const NONE: Thread[] = [];

/** Those of each file that is shown, under its name now; and all others. */
function sorted(said: Thread[], files: ChangedFile[]) {
  const known = new Set(files.map((file) => file.path));
  const byFile = new Map<string, Thread[]>();
  const beside: Thread[] = [];
  for (const one of said) {
    if (one.file === null || !known.has(one.file)) beside.push(one);
    else byFile.set(one.file, [...(byFile.get(one.file) ?? []), one]);
  }
  return { byFile, beside };
}

/** What was said about no file of these; and why nothing is, where it cannot be read. */
function Beside({
  taskId,
  query,
  said,
  data,
}: {
  taskId: string;
  query: { error: unknown; refetch: () => unknown };
  said: Thread[];
  data: Data;
}) {
  if (query.error)
    return (
      <p role="alert" className="mb-3 flex flex-wrap items-center gap-2 text-xs text-bad">
        Comments could not be read. {query.error instanceof Error ? query.error.message : ""}
        <Button size="small" onClick={() => query.refetch()}>
          Try again
        </Button>
      </p>
    );
  if (said.length === 0) return null;
  return (
    <section aria-label="Comments on the whole" className="mb-3 rounded-lg border bg-raised">
      <Threads task={taskId} said={said} rounds={data.rounds} full />
    </section>
  );
}

function FileLink({
  file,
  current,
  viewed,
  onGo,
}: {
  file: ChangedFile;
  current: boolean;
  viewed: boolean;
  onGo: () => void;
}) {
  const name = file.path.split("/");
  const last = name.pop();
  return (
    <button
      type="button"
      onClick={onGo}
      title={file.path}
      aria-current={current}
      className={cx(
        "flex w-full items-center gap-2 px-3 py-1 text-left text-xs hover:bg-hover",
        current && "bg-hover font-medium",
        viewed && "text-ink-3",
      )}
    >
      <span className="min-w-0 flex-1 truncate">
        {clean(last ?? "")} <span className="text-ink-3">{clean(name.join("/"))}</span>
      </span>
      {viewed ? (
        <span className="text-ink-3">viewed</span>
      ) : (
        <span className="tabular-nums">
          <span className="text-good">+{file.additions ?? 0}</span>{" "}
          <span className="text-bad">−{file.deletions ?? 0}</span>
        </span>
      )}
    </button>
  );
}

/** The review can be sent where the task waits for one; else it is only kept. */
function Pending({
  taskId,
  review,
  onChange,
  onSent,
}: {
  taskId: string;
  review: Review;
  onChange: (review: Review) => void;
  onSent: () => void;
}) {
  const prompts = useQuery(queries.task(taskId)).data?.prompts;
  const prompt = prompts?.find((one) => one.type === "review");
  if (!prompt && review.comments.length === 0) return null;
  return <ReviewBar prompt={prompt} review={review} onChange={onChange} onSent={onSent} />;
}
