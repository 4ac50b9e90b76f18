import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type TaskView } from "@/api/client";
import { DiffText } from "@/features/task/DiffText";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Dialog } from "@/kit/Dialog";
import { Section } from "@/kit/Page";
import { Await, Loading } from "@/kit/State";
import { useAge } from "@/kit/Time";
import { clean, duration, money, plural } from "@/kit/text";
import { type Contender, type Race, raceQueries } from "./queries";
import { checksOf, mayPick, nameOf, standing } from "./standing";

/** What several agents made of the same task, side by side, and whose work is taken. */
export function RaceBoard({ view }: { view: TaskView }) {
  const query = useQuery(raceQueries.race(view.task.id));
  const race = query.data;
  if (!race) return query.isPending ? <Loading rows={3} /> : null;
  return (
    <Section title="Side by side" note={told(race)}>
      <ul aria-label="Contenders" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {race.contenders.map((one, index) => (
          <li key={one.run?.part ?? index} className="min-w-0">
            <Card view={view} race={race} one={one} />
          </li>
        ))}
      </ul>
      {race.reasons && (
        <p className="max-w-3xl whitespace-pre-wrap wrap-anywhere text-ink-2">
          <span className="font-medium text-ink">The judge: </span>
          {clean(race.reasons)}
        </p>
      )}
    </Section>
  );
}

function told(race: Race): string {
  if (race.picked) return "One was picked; the work of the others is kept as snapshots.";
  if (race.prompt) return "All have ended. Whose work is taken?";
  if (race.judge_run && !race.judge_run.ended_at) return "The judge compares them.";
  return race.judge ? `${clean(race.judge.agent)} picks when all have ended.` : "";
}

function Card({ view, race, one }: { view: TaskView; race: Race; one: Contender }) {
  const [shown, setShown] = useState(false);
  const { run, figures } = one;
  const age = useAge(run?.started_at && !run.ended_at ? run.started_at : null);
  const state = standing(race, one);
  const checks = checksOf(one);
  const name = nameOf(one);
  const known = figures && figures.files !== null;
  return (
    <article
      aria-label={name}
      className="flex h-full flex-col gap-3 rounded-xl border bg-raised p-4"
    >
      <header className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 flex-1 truncate font-semibold" title={name}>
          {name}
        </h3>
        <Chip tone={state.tone}>{state.words}</Chip>
      </header>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 [&_dd]:text-right [&_dd]:wrap-anywhere [&_dt]:text-ink-3">
        <Fact name="Checks">
          {run?.ended_at ? <Chip tone={checks.tone}>{checks.words}</Chip> : "–"}
        </Fact>
        <Fact name="Changes">
          {known ? (
            <>
              {plural(figures.files ?? 0, "file")}{" "}
              <span className="text-good">+{figures.additions}</span>{" "}
              <span className="text-bad">−{figures.deletions}</span>
            </>
          ) : run?.ended_at ? (
            "unknown"
          ) : (
            "–"
          )}
        </Fact>
        <Fact name="Cost">{run?.ended_at ? money(run.cost_usd) : "–"}</Fact>
        <Fact name="Time">{run?.started_at ? duration(one.seconds ?? age) : "–"}</Fact>
      </dl>
      {one.unfit && run?.ended_at && (
        <p className="text-xs wrap-anywhere text-bad">{clean(one.unfit)}</p>
      )}
      {figures && figures.commits.length > 0 && (
        <ul aria-label="Commits" className="list-disc space-y-0.5 pl-4 text-xs text-ink-2">
          {figures.commits.map((subject, index) => (
            <li key={index} className="wrap-anywhere">
              {clean(subject)}
            </li>
          ))}
        </ul>
      )}
      {run && (
        <footer className="mt-auto flex flex-wrap gap-2">
          {run.ended_at && (
            <Button size="small" onClick={() => setShown(true)}>
              Diff
            </Button>
          )}
          <Button asChild size="small">
            <Link to="." search={(before) => ({ ...before, tab: "transcript", run: run.id })}>
              Transcript
            </Link>
          </Button>
          {one.snapshot !== null && (
            <span className="self-center text-xs text-ink-3">snapshot {one.snapshot}</span>
          )}
          <Pick view={view} race={race} one={one} />
        </footer>
      )}
      {shown && run && (
        <Diff task={view.task.id} run={run.id} name={name} onClose={() => setShown(false)} />
      )}
    </article>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </>
  );
}

function Pick({ view, race, one }: { view: TaskView; race: Race; one: Contender }) {
  const client = useQueryClient();
  const id = view.task.id;
  const reviewed = view.prompts.some((prompt) => prompt.type === "review");
  const pick = useMutation({
    mutationFn: (run: string) =>
      data(
        api.POST("/api/v1/tasks/{task_id}/race/pick", {
          params: { path: { task_id: id } },
          headers: once(),
          body: { run },
        }),
      ),
    onSuccess: () => toast(`The work of ${nameOf(one)} is taken.`),
    onError: (error) => void toast.error((error as ApiError).message),
    onSettled: () => client.invalidateQueries({ queryKey: ["task", id] }),
  });
  if (!one.run || !mayPick(race, one, reviewed)) return null;
  const { id: run } = one.run;
  return (
    <Button
      size="small"
      look={race.picked ? undefined : "primary"}
      className="ml-auto"
      disabled={pick.isPending}
      onClick={() => pick.mutate(run)}
      aria-label={`${race.picked ? "Take instead" : "Take"}: ${nameOf(one)}`}
    >
      {race.picked ? "Take this instead" : "Take this"}
    </Button>
  );
}

function Diff(props: { task: string; run: string; name: string; onClose: () => void }) {
  const query = useQuery(raceQueries.diff(props.task, props.run));
  return (
    <Dialog open wide onClose={props.onClose} title={`What ${props.name} changed`}>
      <Await query={query}>{(text) => <DiffText text={text} />}</Await>
    </Dialog>
  );
}
