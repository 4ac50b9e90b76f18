import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Event } from "@/api/client";
import { taskQueries } from "@/features/task/queries";
import { clean } from "@/kit/text";

interface Violation {
  field: string;
  wrong: string;
  right: string;
}

/** Why what a run left was not kept, or was not believed. */
export function Violations({ task, run }: { task: string; run: string }) {
  const log = useQuery(taskQueries.log(useQueryClient(), task)).data?.items ?? [];
  const said = log.filter((event) => event.level === "warning" && about(event, run));
  return said.map((event) => (
    <div key={event.id} className="max-w-3xl rounded-md bg-warn-soft px-3 py-2 text-warn">
      <p className="font-medium wrap-anywhere">{clean(event.summary)}</p>
      <ul className="list-disc pl-5">
        {violationsOf(event).map((one, index) => (
          <li key={index} className="wrap-anywhere">
            <code className="font-mono text-xs">{clean(one.field)}</code>: {clean(one.wrong)}{" "}
            {clean(one.right)}
          </li>
        ))}
      </ul>
    </div>
  ));
}

const about = (event: Event, run: string) =>
  event.type.startsWith("handoff.") && event.data.run === run;

function violationsOf(event: Event): Violation[] {
  const { violations } = event.data;
  return Array.isArray(violations) ? (violations as Violation[]) : [];
}
