import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { Fragment, useState } from "react";
import type { Run, TaskView } from "@/api/client";
import { RunPrompt } from "@/features/transcript/RunPrompt";
import { RUN_TONES, runEnd } from "@/features/transcript/runs";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { cx } from "@/kit/cx";
import { Panel } from "@/kit/Page";
import { Empty } from "@/kit/State";
import { Ago, useAge } from "@/kit/Time";
import { clean, count, duration, money, plural } from "@/kit/text";
import { RunDetails } from "./RunDetails";
import { costOf } from "./situation";
import { seconds, tokens } from "./sums";
import type { Actions } from "./useActions";

/** Every run of the task: what it was, took, used and cost. */
export function RunsTab({ view, run: start }: { view: TaskView; run: Actions["run"] }) {
  const [open, setOpen] = useState<string | null>(null);
  const [told, setTold] = useState<string | null>(null);
  if (view.runs.length === 0)
    return (
      <Empty title="No agent has worked at this yet">
        Each run is listed here with its time, its tokens and its cost.
      </Empty>
    );
  return (
    <section aria-label="Runs and costs" className="p-4 sm:p-6">
      <Panel className="overflow-x-auto">
        <table className="w-full border-collapse">
          <caption className="sr-only">Runs of this task</caption>
          <thead>
            <tr className="border-b text-left text-xs text-ink-3">
              <Head>Run</Head>
              <Head minor>Agent</Head>
              <Head right minor>
                Waited
              </Head>
              <Head right minor>
                Worked
              </Head>
              <Head right minor>
                Tokens in / out
              </Head>
              <Head right minor>
                Cache
              </Head>
              <Head right>Cost</Head>
              <Head>Outcome</Head>
            </tr>
          </thead>
          <tbody>
            {view.runs.map((run, index) => (
              <Fragment key={run.id}>
                <Row
                  run={run}
                  number={index + 1}
                  open={open === run.id}
                  toggle={() => setOpen(open === run.id ? null : run.id)}
                />
                {open === run.id && (
                  <tr className="border-b bg-sunken/60">
                    <td colSpan={8} className="px-3 py-3">
                      <div className="mb-3 flex flex-wrap gap-2">
                        <Button asChild size="small">
                          <Link
                            to="."
                            search={(before) => ({ ...before, tab: "transcript", run: run.id })}
                          >
                            Transcript
                          </Link>
                        </Button>
                        <Button
                          size="small"
                          disabled={!run.started_at}
                          onClick={() => setTold(run.id)}
                        >
                          What it was told
                        </Button>
                        <Button
                          size="small"
                          disabled={view.run !== null || view.status.category === "final"}
                          title={view.run ? "An agent is at work already." : undefined}
                          onClick={() =>
                            start.mutate({ mode: run.mode, agent: run.agent, settings: {} })
                          }
                        >
                          Run again like this
                        </Button>
                      </div>
                      <RunDetails task={view.task.id} run={run} project={view.project.name} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
          <Sums runs={view.runs} />
        </table>
      </Panel>
      {told && <RunPrompt run={told} onClose={() => setTold(null)} />}
    </section>
  );
}

function Row({
  run,
  number,
  open,
  toggle,
}: {
  run: Run;
  number: number;
  open: boolean;
  toggle: () => void;
}) {
  const live = useAge(run.ended_at ? null : (run.started_at ?? run.created_at));
  const { waited, worked } = seconds(run, live);
  const { usage } = run;
  return (
    <tr className={cx("border-b", open && "bg-sunken/60")}>
      <td className="py-1 pr-3 pl-1.5">
        <button
          type="button"
          aria-expanded={open}
          onClick={toggle}
          className="flex h-9 items-center gap-1.5 rounded-md px-1.5 text-left whitespace-nowrap hover:bg-hover max-sm:h-12"
        >
          <ChevronRight
            size={13}
            className={cx("text-ink-3 transition-transform", open && "rotate-90")}
          />
          <span>
            <span className="font-medium">
              {number}. {run.mode}
            </span>
            <span className="block text-xs text-ink-2">
              <Ago time={run.created_at} />
            </span>
          </span>
        </button>
      </td>
      <td className="px-3 max-sm:hidden">
        {clean(run.agent ?? "default agent")}
        {run.model && <span className="block text-xs text-ink-3">{clean(run.model)}</span>}
      </td>
      <Amount minor>{duration(waited)}</Amount>
      <Amount minor>{run.started_at ? duration(worked) : "–"}</Amount>
      <Amount minor>{pair(usage?.input_tokens, usage?.output_tokens)}</Amount>
      <Amount minor>{pair(usage?.cache_read_tokens, usage?.cache_write_tokens)}</Amount>
      <Amount>
        <span
          title={run.cost_basis === "computed" ? "From the tokens and known prices" : undefined}
        >
          {run.ended_at ? money(run.cost_usd) : "–"}
          {run.cost_basis && <span className="block text-xs text-ink-3">{run.cost_basis}</span>}
        </span>
      </Amount>
      <td className="px-3">
        <Chip tone={RUN_TONES[run.status]}>{clean(runEnd(run))}</Chip>
        {run.sandbox === "none" && (
          <Chip tone="bad" className="ml-1" title="The agent worked with the rights of its user">
            unsandboxed
          </Chip>
        )}
      </td>
    </tr>
  );
}

type Known = number | null | undefined;
const pair = (one: Known, other: Known) =>
  one == null && other == null ? "unknown" : `${count(one)} / ${count(other)}`;

function Sums({ runs }: { runs: Run[] }) {
  const cost = costOf(runs);
  const used = tokens(runs);
  const waited = runs.reduce((sum, run) => sum + (seconds(run, null).waited ?? 0), 0);
  const worked = runs.reduce((sum, run) => sum + (seconds(run, null).worked ?? 0), 0);
  return (
    <tfoot>
      <tr className="font-medium">
        <td className="px-3 py-2.5">{plural(runs.length, "run")}</td>
        <td className="max-sm:hidden" />
        <Amount minor>{duration(waited)}</Amount>
        <Amount minor>{duration(worked)}</Amount>
        <Amount minor>{pair(used.input, used.output)}</Amount>
        <Amount minor>{pair(used.read, used.written)}</Amount>
        <Amount>{money(cost.usd)}</Amount>
        <td className="px-3 text-xs font-normal text-ink-3">
          {cost.unknown > 0 && cost.usd !== null && `and ${plural(cost.unknown, "run")} unknown`}
        </td>
      </tr>
    </tfoot>
  );
}

function Head({ right, minor, children }: { right?: boolean; minor?: boolean; children: string }) {
  return (
    <th
      scope="col"
      className={cx(
        "px-3 py-2 font-medium whitespace-nowrap",
        right && "text-right",
        minor && "max-sm:hidden",
      )}
    >
      {children}
    </th>
  );
}

function Amount({ minor, children }: { minor?: boolean; children: React.ReactNode }) {
  return (
    <td className={cx("px-3 text-right whitespace-nowrap tabular-nums", minor && "max-sm:hidden")}>
      {children}
    </td>
  );
}
