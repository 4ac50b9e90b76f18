import { useNavigate } from "@tanstack/react-router";
import type { Run } from "@/api/client";
import { Select } from "@/kit/Field";
import { Empty } from "@/kit/State";
import { Log } from "./Log";
import { runName } from "./runs";

/** What an agent said and did: of the chosen run, else of the one that is live or was the last. */
export function Transcript({
  taskId,
  runs,
  chosen,
  signAt = null,
}: {
  taskId: string;
  runs: Run[];
  chosen?: string;
  /** When the live run was last heard of, as far as the server knows. */
  signAt?: string | null;
}) {
  const navigate = useNavigate();
  const run =
    runs.find((one) => one.id === chosen) ?? runs.find((one) => !one.ended_at) ?? runs.at(-1);
  if (!run)
    return (
      <Empty title="No agent has worked at this yet">
        When one does, you can watch it here, line by line.
      </Empty>
    );
  return (
    <section aria-label="Transcript" className="flex h-full flex-col">
      {runs.length > 1 && (
        <div className="flex shrink-0 items-center gap-2 border-b px-4 py-1.5 max-sm:px-3">
          <Select
            aria-label="Run"
            className="min-w-0 max-sm:w-full"
            value={run.id}
            onChange={(event) =>
              void navigate({
                to: "/tasks/$taskId",
                params: { taskId },
                search: (before) => ({ ...before, tab: "transcript", run: event.target.value }),
                replace: true,
              })
            }
          >
            {runs.map((one, index) => (
              <option key={one.id} value={one.id}>
                {runName(one, index)}
              </option>
            ))}
          </Select>
        </div>
      )}
      <div className="min-h-0 flex-1">
        <Log key={run.id} run={run} signAt={run.ended_at ? null : signAt} />
      </div>
    </section>
  );
}
