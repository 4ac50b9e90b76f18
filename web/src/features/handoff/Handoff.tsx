import { FilePen, FilePlus } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Schemas } from "@/api/client";
import { NewTask } from "@/features/tasks/NewTask";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { clean, percent } from "@/kit/text";

type Note = Schemas["HandoffNote"];

const OUTCOMES: Record<string, Tone> = {
  completed: "good",
  partial: "warn",
  blocked: "bad",
  failed: "bad",
};
const LEVELS: Record<string, Tone> = { high: "bad", medium: "warn", low: "neutral" };

/** The note that a run left for those who come after it, in the agent's own words. */
export function Handoff({
  note,
  completeness,
  task,
  project,
}: {
  note: Note;
  completeness: number | null;
  task: string;
  project: string;
}) {
  return (
    <div className="max-w-3xl space-y-4">
      <div className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
        <Chip tone={OUTCOMES[note.outcome] ?? "neutral"}>{note.outcome}</Chip>
        <span>{percent(completeness)} complete</span>
        <span>the words of an agent</span>
      </div>
      <Files note={note} />
      <Part title="Patterns" items={note.patterns_discovered}>
        {(one) => (
          <Said words={one.pattern} place={one.location}>
            {one.applies_to.map((tag) => `#${clean(tag)}`).join(" ")}
          </Said>
        )}
      </Part>
      <Part title="Gotchas" items={note.gotchas}>
        {(one) => (
          <Said words={one.issue} level={one.severity} place={one.discovered_in}>
            {clean(one.mitigation)}
          </Said>
        )}
      </Part>
      <Part title="Next steps" items={note.suggested_next_steps}>
        {(one) => (
          <Said words={one.step} level={one.priority}>
            <MakeTask step={one.step} task={task} project={project} />
          </Said>
        )}
      </Part>
      <Part title="Open questions" items={note.open_questions}>
        {(one) => (
          <Said words={one.question} level={one.blocking ? "blocking" : undefined}>
            {clean(one.recommendation ? `Recommended: ${one.recommendation}` : one.context)}
          </Said>
        )}
      </Part>
      <Part title="For the next" items={note.dependencies_for_next}>
        {(one) => <Said words={one.reason} place={one.file} />}
      </Part>
      <Part title="In the way" items={note.blockers}>
        {(one) => <Said words={one.blocker}>{clean(one.suggested_resolution)}</Said>}
      </Part>
    </div>
  );
}

function Files({ note }: { note: Note }) {
  const files = [
    ...note.files_created.map((one) => ({ ...one, Icon: FilePlus, words: one.purpose })),
    ...note.files_modified.map((one) => ({ ...one, Icon: FilePen, words: one.description })),
  ];
  return (
    <Part title="Files" items={files}>
      {({ path, lines, words, Icon }) => (
        <span className="flex gap-2">
          <Icon size={14} className="mt-0.5 shrink-0 text-ink-3" />
          <span className="min-w-0">
            <span className="font-mono text-xs break-all">
              {clean(path)}
              {lines && lines !== "all" && <span className="text-ink-3">:{clean(lines)}</span>}
            </span>
            <span className="block text-ink-2 wrap-anywhere">{clean(words)}</span>
          </span>
        </span>
      )}
    </Part>
  );
}

function Part<T>({
  title,
  items,
  children,
}: {
  title: string;
  items: T[];
  children: (item: T) => ReactNode;
}) {
  if (items.length === 0) return null;
  return (
    <section className="space-y-1.5">
      <h3 className="text-xs font-semibold text-ink-2">{title}</h3>
      <ul className="space-y-2">
        {items.map((item, index) => (
          <li key={index}>{children(item)}</li>
        ))}
      </ul>
    </section>
  );
}

function Said({
  words,
  level,
  place,
  children,
}: {
  words: string;
  level?: string;
  place?: string;
  children?: ReactNode;
}) {
  return (
    <div className="wrap-anywhere">
      {level && (
        <Chip tone={LEVELS[level] ?? "you"} className="mr-1.5">
          {level}
        </Chip>
      )}
      <span>{clean(words)}</span>
      {place && <span className="ml-1.5 font-mono text-xs text-ink-3">{clean(place)}</span>}
      {children && <div className="text-ink-2">{children}</div>}
    </div>
  );
}

/** The form of a new task with the step as its title; nothing is created by the click. */
function MakeTask({ step, task, project }: { step: string; task: string; project: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="small" className="mt-1" onClick={() => setOpen(true)}>
        Make a task of it…
      </Button>
      {open && (
        <NewTask
          open
          onClose={() => setOpen(false)}
          begun={{ key: `${task}:${step}`, title: step, project }}
        />
      )}
    </>
  );
}
