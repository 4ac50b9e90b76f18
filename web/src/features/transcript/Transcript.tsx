import { useNavigate } from "@tanstack/react-router";
import type { Run } from "@/api/client";
import { Select } from "@/kit/Field";
import { Empty } from "@/kit/State";
import { Log } from "./Log";
import { addressed } from "./messages";
import { runName } from "./runs";
import { useHash } from "./useHash";

/** What an agent said and did: of the chosen run, else of the last that began. */
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
  const hash = useHash();
  const run =
    runs.find((one) => one.id === chosen) ?? runs.findLast((one) => one.started_at) ?? runs.at(-1);
  if (!run)
    return (
      <Empty title="No agent has worked at this yet">
        When one does, you can watch it here, line by line.
      </Empty>
    );
  const choose = (id: string) =>
    void navigate({
      to: "/tasks/$taskId",
      params: { taskId },
      search: (before) => ({ ...before, tab: "transcript", run: id }),
      replace: true,
    });
  return (
    <section aria-label="Transcript" className="h-full">
      <Log
        key={`${run.id}${hash}`}
        run={run}
        link={addressed(hash)}
        signAt={run.ended_at ? null : signAt}
        lead={
          runs.length > 1 && (
            <Select
              aria-label="Run"
              className="min-w-0 max-w-80 max-sm:w-full max-sm:max-w-none"
              value={run.id}
              onChange={(event) => choose(event.target.value)}
            >
              {runs.map((one, index) => (
                <option key={one.id} value={one.id}>
                  {runName(one, index)}
                </option>
              ))}
            </Select>
          )
        }
      />
    </section>
  );
}
