import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { GivenDialog } from "./GivenDialog";
import type { StageRun } from "./standing";

/** The runs of a stage, each with what its agent was given and what it did. */
export function StageRuns({ task, runs }: { task: string; runs: StageRun[] }) {
  const [shown, setShown] = useState<StageRun | null>(null);
  return (
    <div className="space-y-1">
      <h4 className="text-xs font-semibold text-ink-2">Runs</h4>
      <ul className="divide-y rounded-lg border bg-raised">
        {runs.map((run) => (
          <li key={run.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
            <span className="font-medium">{clean(run.agent)}</span>
            <Ended run={run} />
            {run.trigger && <Chip title="The loop-back that it was for">{run.trigger}</Chip>}
            <span className="text-xs text-ink-3">
              <Ago time={run.created_at} />
            </span>
            <span className="ml-auto flex gap-1">
              <Button size="small" look="quiet" onClick={() => setShown(run)}>
                What it was given
              </Button>
              <Button asChild size="small" look="quiet">
                <Link
                  to="."
                  hash=""
                  search={(before) => ({ ...before, tab: "transcript", run: run.id })}
                >
                  Transcript
                </Link>
              </Button>
            </span>
            {run.error && (
              <p className="w-full text-xs text-bad wrap-anywhere">{clean(run.error)}</p>
            )}
          </li>
        ))}
      </ul>
      {shown && <GivenDialog task={task} run={shown} onClose={() => setShown(null)} />}
    </div>
  );
}

function Ended({ run }: { run: StageRun }) {
  const [word, tone]: [string, Tone] = !run.ended_at
    ? [run.status === "queued" ? "queued" : "at work", "accent"]
    : run.error
      ? ["failed", "bad"]
      : run.delivered
        ? ["done", "good"]
        : ["asked", "you"];
  return <Chip tone={tone}>{word}</Chip>;
}
