import { useQuery } from "@tanstack/react-query";
import type { Run, Schemas } from "@/api/client";
import { KindChip, NodeLink, SeverityChip, StateChip } from "@/features/knowledge/look";
import { knowledge } from "@/features/knowledge/queries";
import { Await } from "@/kit/State";
import { clean, plural } from "@/kit/text";
import { Handoff } from "./Handoff";
import { Violations } from "./Violations";

/** The note that a run left, and what it was told of what is known, and why. */
export function RunMemory({ task, run, project }: { task: string; run: Run; project: string }) {
  const kept = useQuery({ ...knowledge.handoff(task, run.id), enabled: !!run.ended_at });
  const told = useQuery({ ...knowledge.told(task), enabled: !!run.started_at });
  return (
    <>
      {run.started_at && (
        <div className="space-y-1.5">
          <h3 className="text-xs font-semibold text-ink-2">What it was told of what is known</h3>
          <Await query={told} rows={1}>
            {({ runs }) => <Told hits={runs.find((one) => one.run_id === run.id)?.hits ?? []} />}
          </Await>
        </div>
      )}
      {run.ended_at && (
        <div className="space-y-1.5">
          <h3 className="text-xs font-semibold text-ink-2">What it left</h3>
          <Await query={kept} rows={1}>
            {({ handoff, completeness, violations }) =>
              handoff ? (
                <Handoff note={handoff} completeness={completeness} task={task} project={project} />
              ) : violations.length > 0 ? (
                <Violations violations={violations} />
              ) : (
                <p className="text-ink-3">No handoff.</p>
              )
            }
          </Await>
        </div>
      )}
    </>
  );
}

function Told({ hits }: { hits: Schemas["RecalledNode"][] }) {
  if (hits.length === 0) return <p className="text-ink-3">Nothing.</p>;
  return (
    <details>
      <summary className="min-h-6 text-ink-2">{plural(hits.length, "finding")}</summary>
      <ul className="mt-1 space-y-1.5">
        {hits.map(({ node, why }) => (
          <li key={node.id} className="wrap-anywhere">
            <KindChip kind={node.kind} />{" "}
            {node.severity && <SeverityChip severity={node.severity} />}{" "}
            {node.state !== "active" && <StateChip state={node.state} />} <NodeLink node={node} />
            <span className="block text-xs text-ink-3">because of {why.map(clean).join("; ")}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
