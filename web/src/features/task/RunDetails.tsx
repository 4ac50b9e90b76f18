import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import type { Run, Schemas } from "@/api/client";
import { RunMemory } from "@/features/handoff/OfRun";
import { Pre } from "@/kit/Pre";
import { clean, duration, shortened } from "@/kit/text";
import { taskQueries } from "./queries";

/** What else there is to a run: how it failed, its checks, and what was set for it. */
export function RunDetails({ task, run, project }: { task: string; run: Run; project: string }) {
  const checks = useQuery(taskQueries.checks(task, run.id));
  const rounds = checks.data?.rounds ?? [];
  const own = run.settings?.filter((one) => !one.layer.endsWith("default")) ?? [];
  return (
    <div className="space-y-3">
      {run.sandbox === "none" && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          Unsandboxed: the agent worked with all the rights of its user. Its work is merged only
          when a person approves it.
        </p>
      )}
      {run.error && (
        <div className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          <p className="font-medium">
            {clean(run.error.error)} <span className="text-xs">({run.error.error_class})</span>
          </p>
          {run.error.output && <Printed text={run.error.output} />}
        </div>
      )}
      {rounds.map((round, index) => (
        <div key={index} className="space-y-1">
          <h3 className="text-xs font-semibold text-ink-2">
            {rounds.length > 1 ? `Checks, round ${index + 1}` : "Checks"}
          </h3>
          {round.map((check) => (
            <CheckLine key={check.name} check={check} />
          ))}
        </div>
      ))}
      <RunMemory task={task} run={run} project={project} />
      <dl className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {[
          ["run", run.id],
          ["attempt", String(run.attempt)],
          ["session", run.session],
          ["sandbox", run.sandbox],
          ["workspace", run.workspace],
          ...own.map((one): [string, string] => [one.key, JSON.stringify(one.value)]),
        ].map(
          ([name, value]) =>
            value && (
              <div key={name} className="flex min-w-0 gap-1.5">
                <dt className="text-ink-3">{name}</dt>
                <dd className="min-w-0 font-mono break-all">{clean(value)}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  );
}

function CheckLine({ check }: { check: Schemas["Check"] }) {
  const Icon = check.passed ? CircleCheck : CircleX;
  return (
    <div>
      <p className="flex items-center gap-1.5">
        <Icon size={13} className={check.passed ? "text-good" : "text-bad"} />
        <span className="font-medium">{clean(check.name)}</span>
        <span className="text-xs text-ink-3">
          {clean(check.how)}, {duration(check.seconds)}
          {!check.passed && check.severity !== "error" && `, ${check.severity} only`}
        </span>
      </p>
      {!check.passed && check.output && <Printed text={check.output} />}
    </div>
  );
}

function Printed({ text }: { text: string }) {
  const shown = shortened(clean(text));
  return (
    <Pre className="mt-1 max-h-64 bg-raised text-ink">
      {shown.text}
      {shown.cut > 0 && `\n… ${shown.cut} more characters`}
    </Pre>
  );
}
