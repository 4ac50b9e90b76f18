import { Link } from "@tanstack/react-router";
import type { TaskView } from "@/api/client";
import { QUIET_S } from "@/features/transcript/NowLine";
import { cx } from "@/kit/cx";
import { Ago, useAge } from "@/kit/Time";
import { clean, duration } from "@/kit/text";

/** Who moves the task next, and since when. */
export function NextMover({ view, signAt }: { view: TaskView; signAt: string | null }) {
  const { kind, text, id } = view.next_mover;
  const prompt = view.prompts.find((one) => one.id === id);
  if (prompt)
    return (
      <span className="font-medium text-you">
        waits for you since <Ago time={prompt.created_at} suffix="" />
      </span>
    );
  if (kind === "run" && view.run?.status === "running")
    return <Working agent={view.run.agent} signAt={signAt} />;
  if (kind === "dependency" && id)
    return (
      <Link
        to="/tasks/$taskId"
        params={{ taskId: id }}
        className="min-w-0 text-ink-2 hover:underline"
      >
        {clean(text)}
      </Link>
    );
  return (
    <span className={cx("min-w-0 text-ink-2", kind === "nobody" && "font-medium text-bad")}>
      {clean(text)}
    </span>
  );
}

function Working({ agent, signAt }: { agent: string | null; signAt: string | null }) {
  const age = useAge(signAt);
  const quiet = age !== null && age > QUIET_S;
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1.5 tabular-nums",
        quiet ? "font-medium text-warn" : "text-ink-2",
      )}
    >
      <span className={cx("size-2 rounded-full", quiet ? "bg-warn" : "pulse-dot bg-good")} />
      {agent ?? "the agent"} works,{" "}
      {age === null
        ? "not heard of yet"
        : quiet
          ? `quiet for ${duration(age)}`
          : `last sign of life ${age < 5 ? "now" : `${duration(age)} ago`}`}
    </span>
  );
}
