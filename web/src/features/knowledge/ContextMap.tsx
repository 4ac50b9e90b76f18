import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FolderTree } from "lucide-react";
import { useDeferredValue, useMemo, useRef } from "react";
import { Virtuoso } from "react-virtuoso";
import type { Schemas } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { Chip, type Tone } from "@/kit/Chip";
import { Input } from "@/kit/Field";
import { Await, Empty } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { Frame, OfProject } from "./Frame";
import { TaskLink } from "./look";
import { byFile, foldersOf, type MappedPath } from "./paths";
import { knowledge } from "./queries";

const TONES: Record<string, Tone> = { create: "good", add: "good", delete: "bad" };

/** What was done to which file, by which task. */
export function ContextMap() {
  return <Frame fixed>{<OfProject>{(project) => <Files project={project} />}</OfProject>}</Frame>;
}

function Files({ project }: { project: string }) {
  const { under } = useSearch({ from: "/frame/knowledge/map" });
  const navigate = useNavigate({ from: "/knowledge/map" });
  const box = useRef<HTMLInputElement>(null);
  const found = useInfiniteQuery(knowledge.map(project, useDeferredValue(under ?? "")));
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const files = useMemo(() => byFile(items), [items]);
  const narrow = (path: string) =>
    void navigate({
      search: (before) => ({ ...before, under: path || undefined }),
      replace: true,
    });
  useShortcuts("Context map", [{ keys: "f", label: "Filter", run: () => box.current?.focus() }]);
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-2.5 sm:px-6">
        <Input
          ref={box}
          type="search"
          aria-label="File or folder"
          placeholder="File or folder, such as src/auth"
          className="max-w-md min-w-52 flex-1 font-mono text-xs"
          value={under ?? ""}
          onChange={(event) => narrow(event.target.value)}
        />
        <p role="status" className="text-xs text-ink-3">
          {found.data &&
            `${plural(files.length, "file")}${found.hasNextPage ? " so far" : ""}, ${plural(items.length, "change")}`}
        </p>
      </div>
      <section aria-label="Files" className="min-h-0 flex-1">
        <Await query={found}>
          {() =>
            files.length === 0 ? (
              <Empty icon={<FolderTree size={28} />} title="No file is on the map">
                {under
                  ? "No run told of a file there."
                  : "What runs tell of the files that they wrote stands here."}
              </Empty>
            ) : (
              <Virtuoso
                data={files}
                endReached={() =>
                  found.hasNextPage && !found.isFetching && void found.fetchNextPage()
                }
                computeItemKey={(_, file) => file.path}
                itemContent={(_, file) => <File file={file} project={project} narrow={narrow} />}
              />
            )
          }
        </Await>
      </section>
    </>
  );
}

function File({
  file,
  project,
  narrow,
}: {
  file: MappedPath;
  project: string;
  narrow: (path: string) => void;
}) {
  return (
    <article aria-label={clean(file.path)} className="border-b px-4 py-2.5 sm:px-6">
      <div className="flex items-center gap-3">
        <h2 className="min-w-0 flex-1 font-mono text-xs break-all">
          {foldersOf(file.path).map(({ name, path }) => (
            <span key={path}>
              <button
                type="button"
                title={`Only what is below ${clean(path)}`}
                onClick={() => narrow(path)}
                className="text-ink-3 hover:text-ink hover:underline max-sm:min-h-8"
              >
                {clean(name)}
              </button>
              <span className="text-ink-3">/</span>
            </span>
          ))}
          <span className="font-semibold">{clean(file.path.split("/").at(-1) ?? "")}</span>
        </h2>
        <Link
          to="/knowledge"
          search={{ file: file.path, project }}
          className="shrink-0 text-xs text-accent-text hover:underline"
        >
          findings
        </Link>
      </div>
      <ul className="mt-1.5 space-y-1.5 sm:pl-4">
        {file.notes.map((one) => (
          <Note key={one.note.id} item={one} />
        ))}
      </ul>
    </article>
  );
}

function Note({ item: { note, task } }: { item: Schemas["MappedFile"] }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <span className="w-16 shrink-0">
        <Chip tone={TONES[note.change] ?? "neutral"}>{clean(note.change)}</Chip>
      </span>
      <span className="min-w-0 flex-1 basis-60 wrap-anywhere">{clean(note.description)}</span>
      <span className="flex min-w-0 items-baseline gap-3 text-xs text-ink-3">
        {note.lines && <span className="font-mono">{clean(note.lines)}</span>}
        <span className="flex max-w-56 min-w-0">
          {task ? <TaskLink task={task} /> : "a task that is gone"}
        </span>
        <Ago time={note.at} />
      </span>
    </li>
  );
}
