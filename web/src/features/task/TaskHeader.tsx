import { Link } from "@tanstack/react-router";
import {
  ArrowRightLeft,
  Copy,
  Ellipsis,
  GitBranch,
  GitPullRequest,
  Pencil,
  RotateCw,
  Square,
} from "lucide-react";
import { toast } from "sonner";
import type { TaskView } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Menu } from "@/kit/Menu";
import { Tooltip } from "@/kit/Tooltip";
import { clean, money, plural } from "@/kit/text";
import { NextMover } from "./NextMover";
import { StatusChip } from "./StatusChip";
import { again, type Choice, costOf, onward } from "./situation";

export type Wish = "stop" | "run" | "race" | "edit" | "delete" | "force" | Choice;

export function TaskHeader({
  view,
  all,
  admin,
  signAt,
  menu,
  setMenu,
  wish,
  onRetry,
  onStart,
}: {
  view: TaskView;
  all: Choice[];
  admin: boolean;
  signAt: string | null;
  menu: boolean;
  setMenu: (open: boolean) => void;
  /** Something that a person wants, which is done or asked for once more. */
  wish: (what: Wish) => void;
  onRetry: () => void;
  /** Has the engine start the task when its dependencies are finished. */
  onStart: () => void;
}) {
  const next = onward(view, all);
  const retry = again(view);
  return (
    <header className="space-y-2.5 px-4 pt-4 pb-3 sm:px-6">
      <div className="flex items-start gap-3 max-sm:flex-col">
        <div className="min-w-0 flex-1">
          <p className="flex items-center gap-2 text-xs text-ink-3">
            <span className="truncate">{clean(view.project.name)}</span>
            <CopyId id={view.task.id} />
          </p>
          <h1 className="text-xl leading-snug font-semibold break-words">
            {clean(view.task.title)}
          </h1>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {next?.waits && (
            <Tooltip text={next.note ?? ""}>
              <Button look="primary" onClick={onStart}>
                Start when ready
              </Button>
            </Tooltip>
          )}
          {next && !next.waits && (
            <Tooltip text={next.possible ? "" : next.note}>
              <Button
                look="primary"
                aria-disabled={!next.possible}
                className={next.possible ? "" : "opacity-55"}
                onClick={() => (next.possible ? wish(next) : setMenu(true))}
              >
                {clean(next.move.label)}
              </Button>
            </Tooltip>
          )}
          {retry && (
            <Button onClick={onRetry} hint="r">
              <RotateCw size={14} /> {retry.kind === "now" ? "Try now" : "Retry"}
            </Button>
          )}
          {view.run && (
            <Button look="danger" onClick={() => wish("stop")} hint=".">
              <Square size={13} /> Stop
            </Button>
          )}
          {(all.length > 0 || admin) && (
            <Menu
              label="Move the task"
              open={menu}
              onOpenChange={setMenu}
              trigger={
                <Button hint="t">
                  <ArrowRightLeft size={14} /> Move
                </Button>
              }
              items={[
                ...all.map((choice) => ({
                  label: `${clean(choice.move.label)} → ${clean(choice.title)}`,
                  note: choice.note && clean(choice.note),
                  disabled: !choice.possible,
                  danger: choice.ends && choice.possible,
                  onSelect: () => wish(choice),
                })),
                ...(admin
                  ? [
                      {
                        label: "Move by force…",
                        note: "To any status, past its guards.",
                        onSelect: () => wish("force"),
                      },
                    ]
                  : []),
              ]}
            />
          )}
          <Button
            size="icon"
            aria-label="Edit the words"
            title="Edit the words"
            onClick={() => wish("edit")}
          >
            <Pencil size={14} />
          </Button>
          <Menu
            label="More"
            trigger={
              <Button size="icon" aria-label="More">
                <Ellipsis size={15} />
              </Button>
            }
            items={[
              {
                label: "Run with options…",
                note: view.run ? "An agent is at work already." : undefined,
                disabled: view.run !== null,
                onSelect: () => wish("run"),
              },
              {
                label: "Several agents side by side…",
                note: view.run ? "An agent is at work already." : undefined,
                disabled: view.run !== null || view.status.category === "final",
                onSelect: () => wish("race"),
              },
              {
                label: "Delete…",
                note: admin ? undefined : "Only an admin may delete tasks.",
                danger: admin,
                disabled: !admin,
                onSelect: () => wish("delete"),
              },
            ]}
          />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <StatusChip status={view.status} />
        <NextMover view={view} signAt={signAt} />
        <Spent view={view} />
        <Branch view={view} />
      </div>
    </header>
  );
}

function CopyId({ id }: { id: string }) {
  return (
    <button
      type="button"
      title="Copy the id"
      aria-label={`Copy the id ${id}`}
      onClick={() => void navigator.clipboard?.writeText(id).then(() => toast("It was copied."))}
      className="inline-flex h-5 items-center gap-1 rounded px-1 font-mono hover:bg-hover hover:text-ink max-sm:h-9"
    >
      {id} <Copy size={11} />
    </button>
  );
}

function Spent({ view }: { view: TaskView }) {
  if (view.runs.length === 0) return null;
  const { usd, unknown } = costOf(view.runs);
  if (usd === null && unknown === 0) return null;
  return (
    <Link
      to="."
      search={(before) => ({ ...before, tab: "runs" })}
      className="text-ink-2 tabular-nums hover:underline"
      title="What its runs cost"
    >
      {usd === null ? "cost unknown" : money(usd)}
      {usd !== null && unknown > 0 && ` and ${plural(unknown, "run")} unknown`}
    </Link>
  );
}

function Branch({ view }: { view: TaskView }) {
  const branch = view.artifacts.findLast((one) => one.type === "branch")?.label;
  return (
    <>
      {branch && (
        <span
          title={clean(branch)}
          className="inline-flex min-w-0 max-w-72 items-center gap-1 font-mono text-xs text-ink-3"
        >
          <GitBranch size={12} className="shrink-0" />
          <span className="truncate">{clean(branch)}</span>
        </span>
      )}
      {view.pull && (
        <Link to="." search={(before) => ({ ...before, tab: "changes" })}>
          <Chip
            tone={{ open: "good", merged: "accent", closed: "neutral" }[view.pull.state] as never}
          >
            <GitPullRequest size={11} /> #{view.pull.number} {view.pull.state}
          </Chip>
        </Link>
      )}
      {view.pull?.url && (
        <a
          href={view.pull.url}
          rel="noreferrer noopener"
          target="_blank"
          className="text-xs text-ink-3 underline"
        >
          on {view.pull.forge}
          {view.pull.checks && `, checks ${view.pull.checks}`}
        </a>
      )}
    </>
  );
}
