import { PatchDiff } from "@pierre/diffs/react";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight, MessageSquarePlus } from "lucide-react";
import { memo, useMemo } from "react";
import { useDark } from "@/app/theme";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Failed, Loading } from "@/kit/State";
import { clean, plural } from "@/kit/text";
import { CommentEditor } from "./CommentEditor";
import { fileQuery } from "./data";
import { THEME } from "./Highlighting";
import {
  type ChangedFile,
  type Comment,
  isShown,
  onLine,
  placeOf,
  type Round,
  roundOf,
  type Thread as Said,
} from "./model";
import { Thread } from "./Thread";

interface Note {
  mine?: Comment;
  said?: Said;
}

const NONE: Said[] = [];

export interface FileActions {
  fold: (path: string, folded: boolean) => void;
  view: (path: string, viewed: boolean) => void;
  add: (file: string, line: number | null) => void;
  edit: (comment: Comment) => void;
  remove: (id: string) => void;
}

export const FileDiff = memo(function FileDiff({
  task,
  head,
  since,
  file,
  folded,
  viewed,
  split,
  mine,
  said,
  rounds,
  actions,
}: {
  task: string;
  head: string;
  since?: number;
  file: ChangedFile;
  folded: boolean;
  viewed: boolean;
  split: boolean;
  mine: Comment[];
  said: Said[];
  rounds: Round[];
  actions: FileActions;
}) {
  const Arrow = folded ? ChevronRight : ChevronDown;
  const about = mine.filter((one) => one.line === null);
  const beside = file.binary ? said : said.filter((one) => !onLine(one));
  const open = said.filter((one) => !one.resolved).length;
  return (
    <section
      aria-label={file.path}
      data-file={file.path}
      className="mb-3 overflow-clip rounded-lg border bg-raised"
    >
      <header className="sticky top-0 z-10 flex flex-wrap items-center gap-2 border-b bg-raised px-2 py-1.5">
        <button
          type="button"
          aria-expanded={!folded}
          aria-label={`${folded ? "Unfold" : "Fold"} ${file.path}`}
          onClick={() => actions.fold(file.path, !folded)}
          className="grid size-6 place-items-center rounded text-ink-3 hover:bg-hover max-sm:size-9"
        >
          <Arrow size={15} />
        </button>
        <span className="min-w-0 flex-1 font-mono text-xs break-all max-sm:basis-[calc(100%-4rem)]">
          {file.old_path && <span className="text-ink-3">{clean(file.old_path)} → </span>}
          {clean(file.path)}
        </span>
        {file.status !== "modified" && <Chip>{file.status}</Chip>}
        {file.generated && <Chip>generated</Chip>}
        {file.binary ? (
          <Chip>not text</Chip>
        ) : (
          <span className="text-xs tabular-nums">
            <span className="text-good">+{file.additions}</span>{" "}
            <span className="text-bad">−{file.deletions}</span>
          </span>
        )}
        {open > 0 && <Chip tone="accent">{plural(open, "comment")}</Chip>}
        <Button
          size="small"
          look="quiet"
          aria-label={`Comment on ${file.path}`}
          onClick={() => actions.add(file.path, null)}
        >
          <MessageSquarePlus size={14} />
        </Button>
        <label className="flex items-center gap-1.5 text-xs text-ink-2 max-sm:min-h-9">
          <input
            type="checkbox"
            checked={viewed}
            onChange={(event) => {
              actions.view(file.path, event.target.checked);
              actions.fold(file.path, event.target.checked);
            }}
          />
          Viewed
        </label>
      </header>
      {about.map((comment) => (
        <div key={comment.id} className="border-b p-2">
          <CommentEditor comment={comment} onChange={actions.edit} onRemove={actions.remove} />
        </div>
      ))}
      {!folded && (
        <>
          <Threads task={task} said={beside} rounds={rounds} />
          {file.binary ? (
            <p className="p-4 text-ink-3">This file is not text.</p>
          ) : (
            <Body {...{ task, head, since, file, split, mine, said, rounds, actions }} />
          )}
        </>
      )}
    </section>
  );
});

/** Those that have no line to stand at; each says which, in full where no file is above it. */
export function Threads({
  task,
  said,
  rounds,
  full = false,
}: {
  task: string;
  said: Said[];
  rounds: Round[];
  full?: boolean;
}) {
  if (said.length === 0) return null;
  return (
    <div className="space-y-2 border-b p-2 last:border-b-0">
      {said.map((one, index) => (
        <Thread
          key={one.number ?? `${one.time} ${index}`}
          task={task}
          said={one}
          round={roundOf(one, rounds)}
          place={full ? placeOf(one) : one.line ? `line ${one.line}` : ""}
        />
      ))}
    </div>
  );
}

function Body({
  task,
  head,
  since,
  file,
  split,
  mine,
  said,
  rounds,
  actions,
}: {
  task: string;
  head: string;
  since?: number;
  file: ChangedFile;
  split: boolean;
  mine: Comment[];
  said: Said[];
  rounds: Round[];
  actions: FileActions;
}) {
  const query = useQuery(fileQuery(task, head, file.path, since));
  const dark = useDark();
  const patch = query.data?.diff;
  const { shown, hidden } = useMemo(() => {
    if (patch === undefined) return { shown: NONE, hidden: NONE };
    const placed = said.filter(onLine);
    const fits = (one: Said) => isShown(patch, one.line as number);
    return { shown: placed.filter(fits), hidden: placed.filter((one) => !fits(one)) };
  }, [patch, said]);
  const notes = useMemo(
    () => [
      ...shown.map((one) => ({
        side: "additions" as const,
        lineNumber: one.line as number,
        metadata: { said: one } as Note,
      })),
      ...mine
        .filter((one) => one.line !== null)
        .map((one) => ({
          side: "additions" as const,
          lineNumber: one.line as number,
          metadata: { mine: one } as Note,
        })),
    ],
    [mine, shown],
  );
  const options = useMemo(
    () => ({
      theme: THEME,
      themeType: dark ? ("dark" as const) : ("light" as const),
      diffStyle: split ? ("split" as const) : ("unified" as const),
      overflow: "wrap" as const,
      disableFileHeader: true,
      enableGutterUtility: true,
      lineHoverHighlight: "number" as const,
      onGutterUtilityClick: (range: { start: number; side?: string }) => {
        if (range.side !== "deletions") actions.add(file.path, range.start);
      },
    }),
    [dark, split, actions, file.path],
  );
  if (query.error) return <Failed error={query.error} again={() => query.refetch()} />;
  if (!query.data) return <Loading rows={3} />;
  if (!query.data.diff.includes("@@"))
    return (
      <>
        <Threads task={task} said={hidden} rounds={rounds} />
        <p className="p-4 text-ink-3">Its text is as it was; only its name or mode changed.</p>
      </>
    );
  return (
    <>
      <Threads task={task} said={hidden} rounds={rounds} />
      <PatchDiff<Note>
        patch={query.data.diff}
        options={options}
        lineAnnotations={notes}
        renderAnnotation={(note) => (
          <div className="max-w-3xl p-2 font-sans">
            {note.metadata.mine ? (
              <CommentEditor
                comment={note.metadata.mine}
                onChange={actions.edit}
                onRemove={actions.remove}
              />
            ) : (
              note.metadata.said && (
                <Thread
                  task={task}
                  said={note.metadata.said}
                  round={roundOf(note.metadata.said, rounds)}
                />
              )
            )}
          </div>
        )}
      />
      {query.data.cut && (
        <p className="border-t p-3 text-ink-3">
          The rest of this file is too long to show; look at it in the task&apos;s branch.
        </p>
      )}
    </>
  );
}
