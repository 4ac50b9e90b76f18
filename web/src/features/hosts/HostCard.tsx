import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { toast } from "sonner";
import { api, data, once, type Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { cx } from "@/kit/cx";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";

type Host = Schemas["Host"];

const STATES: Record<string, { words: string; tone: Tone }> = {
  up: { words: "up", tone: "good" },
  draining: { words: "takes nothing new", tone: "warn" },
  left: { words: "sent away", tone: "neutral" },
  away: { words: "not heard of", tone: "warn" },
  over: { words: "gone; others take over", tone: "bad" },
};

export function HostCard({ host }: { host: Host }) {
  const state = STATES[host.state] ?? { words: host.state, tone: "neutral" as Tone };
  return (
    <article aria-label={host.name} className="space-y-2 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">{clean(host.name)}</h3>
        <Chip tone={state.tone}>{state.words}</Chip>
        {host.here && <Chip>answers you</Chip>}
        {host.labels.map((label) => (
          <Chip key={label} tone="accent">
            {label}
          </Chip>
        ))}
        <div className="ml-auto">
          <Acts host={host} />
        </div>
      </div>
      <Places host={host} />
      <Facts host={host} />
      {host.working.length > 0 && (
        <ul className="space-y-1">
          {host.working.map((start) => (
            <li key={start.run_id} className="flex flex-wrap items-baseline gap-x-3">
              <Link
                to="/tasks/$taskId"
                params={{ taskId: start.task_id }}
                search={{ tab: "transcript", run: start.run_id }}
                className="min-w-0 flex-1 basis-48 truncate hover:underline"
              >
                {clean(start.title)}
              </Link>
              <span className="text-xs text-ink-3">
                {clean(start.project)} · {start.agent ?? "agent"}
              </span>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** How many of its places are taken. */
function Places({ host }: { host: Host }) {
  const taken = host.working.length;
  if (host.capacity === null) return <p className="text-ink-2">{taken} at work</p>;
  const share = Math.min(1, taken / host.capacity);
  return (
    <div className="flex items-center gap-3">
      <div aria-hidden className="h-1.5 w-40 overflow-hidden rounded-full bg-sunken">
        <div
          className={cx("h-full rounded-full", share === 1 ? "bg-warn" : "bg-good")}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <span className="text-ink-2 tabular-nums">
        {taken} of {host.capacity} at work
      </span>
    </div>
  );
}

function Facts({ host }: { host: Host }) {
  const room = host.free_disk_mb;
  return (
    <p className="flex flex-wrap gap-x-4 text-xs text-ink-3">
      <span>{room === null ? "disk unknown" : `${Math.round(room / 1000)} GB free`}</span>
      {host.version && <span>version {host.version}</span>}
      {host.seen_at && (
        <span>
          seen <Ago time={host.seen_at} />
        </span>
      )}
      {host.started_at && (
        <span>
          started <Ago time={host.started_at} />
        </span>
      )}
      {host.projects.length > 0 && <span>has {host.projects.map(clean).join(", ")}</span>}
    </p>
  );
}

function Acts({ host }: { host: Host }) {
  const client = useQueryClient();
  const to = { params: { path: { host: host.id } }, headers: once() };
  const act = useMutation({
    mutationFn: (what: "drain" | "resume" | "remove") =>
      data(
        what === "drain"
          ? api.POST("/api/v1/hosts/{host}/drain", to)
          : what === "resume"
            ? api.POST("/api/v1/hosts/{host}/resume", to)
            : api.DELETE("/api/v1/hosts/{host}", to),
      ),
    onError: (error) => toast.error(error.message),
    onSettled: () => client.invalidateQueries({ queryKey: ["hosts"] }),
  });
  if (host.seen_at === null || host.state === "left") return null;
  return (
    <div className="flex gap-2">
      {host.state === "draining" ? (
        <Button size="small" onClick={() => act.mutate("resume")}>
          Take work again
        </Button>
      ) : (
        <Button size="small" onClick={() => act.mutate("drain")}>
          Take nothing new
        </Button>
      )}
      <Confirm
        title={`Send ${host.name} away?`}
        action="Send away"
        onConfirm={() => act.mutate("remove")}
        trigger={(open) => (
          <Button size="small" look="danger" onClick={open}>
            Send away
          </Button>
        )}
      >
        Its program ends, and other machines take over what it had. Agents that work on it are
        stopped and tried again elsewhere.
      </Confirm>
    </div>
  );
}
