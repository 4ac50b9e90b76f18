import { draggable } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  ArrowRightLeft,
  Clock,
  GitPullRequest,
  MessageCircleQuestion,
  RotateCw,
} from "lucide-react";
import { memo, useEffect, useRef } from "react";
import { Chip } from "@/kit/Chip";
import { cx } from "@/kit/cx";
import { Ago, useAge } from "@/kit/Time";
import { clean, duration, money, plural } from "@/kit/text";
import { targetsQuery } from "./data";
import { MoveMenu } from "./MoveMenu";
import type { Card } from "./model";
import { SelectCard } from "./Selection";

const QUIET_S = 300;
const EDGE: Record<string, string> = { urgent: "bg-bad", high: "bg-you", low: "bg-line-strong" };

export const BoardCard = memo(function BoardCard({
  card,
  project,
  onMove,
}: {
  card: Card;
  project: string | null;
  onMove: (card: Card, to: string) => void;
}) {
  const place = useRef<HTMLElement>(null);
  const client = useQueryClient();
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    return draggable({ element, getInitialData: () => ({ card }) });
  }, [card]);
  return (
    <article
      ref={place}
      data-task={card.id}
      onPointerEnter={() => void client.prefetchQuery(targetsQuery(card.id))}
      className={cx(
        "group relative cursor-grab rounded-lg border bg-raised p-2.5 pl-3 shadow-[0_1px_2px_rgb(0_0_0/0.04)] hover:border-line-strong",
        card.prompt && "border-you/50",
      )}
    >
      <SelectCard card={card} />
      {EDGE[card.priority] && (
        <span
          title={`${card.priority} priority`}
          className={cx(
            "absolute top-2.5 bottom-2.5 left-0 w-[3px] rounded-full",
            EDGE[card.priority],
          )}
        />
      )}
      <div className="flex items-start gap-1.5">
        {/* Not draggable itself, or the browser would drag the link instead of the card. */}
        <Link
          to="/tasks/$taskId"
          params={{ taskId: card.id }}
          draggable={false}
          className="min-w-0 flex-1 text-[13px] leading-snug font-medium break-words after:absolute after:inset-0 hover:underline"
        >
          {clean(card.title)}
        </Link>
        <MoveMenu card={card} onMove={onMove}>
          <button
            type="button"
            aria-label={`Move ${card.title}`}
            className="relative -mt-1 -mr-1 grid size-6 shrink-0 place-items-center rounded text-ink-3 opacity-0 group-hover:opacity-100 hover:bg-hover hover:text-ink focus-visible:opacity-100 max-sm:size-9 max-sm:opacity-100"
          >
            <ArrowRightLeft size={13} />
          </button>
        </MoveMenu>
      </div>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-[11px] text-ink-3">
        {card.prompt && (
          <Chip tone="you">
            <MessageCircleQuestion size={11} /> Needs you ·{" "}
            <Ago time={card.prompt.since} suffix="" />
          </Chip>
        )}
        {card.run && <Life run={card.run} />}
        <Start card={card} />
        {card.round && card.round.number > 0 && (
          <span
            title={`Came back to ${card.round.status} this often`}
            className="flex items-center gap-1"
          >
            <RotateCw size={11} /> {card.round.number}/{card.round.max}
          </span>
        )}
        {card.pull && (
          <span className="flex items-center gap-1">
            <GitPullRequest size={11} /> #{card.pull.number} {card.pull.state}
          </span>
        )}
        {card.phases && (
          <span title="Phases done">
            {card.phases.done}/{card.phases.total} phases
          </span>
        )}
        {card.cost && (
          <span
            title={
              card.cost.unknown
                ? `The cost of ${plural(card.cost.unknown, "run")} is unknown`
                : "Cost"
            }
          >
            {card.cost.usd === null ? "cost unknown" : money(card.cost.usd)}
            {card.cost.unknown > 0 && card.cost.usd !== null && "+"}
          </span>
        )}
        {project && <span className="truncate">{project}</span>}
        {card.tags.slice(0, 3).map((tag) => (
          <span key={tag} className="truncate">
            #{tag}
          </span>
        ))}
      </div>
    </article>
  );
});

/** When the card's task starts, or what it waits for. */
function Start({ card }: { card: Card }) {
  const at = card.starts_at && new Date(card.starts_at);
  if (at && at.getTime() > Date.now())
    return (
      <span title={`Starts at ${at.toLocaleString()}`} className="flex items-center gap-1">
        <Clock size={11} /> Starts {at.toLocaleString()}
      </span>
    );
  const [first] = card.waits_for;
  if (!first) return null;
  const titles = card.waits_for.map((one) => clean(one.title));
  const more = card.waits_for_total - titles.length;
  const what = card.waits_for_total === 1 ? clean(first.title) : `${card.waits_for_total} tasks`;
  return (
    <span
      title={[...titles, ...(more > 0 ? [`${more} more`] : [])].join("\n")}
      className="flex min-w-0 items-center gap-1"
    >
      <Clock size={11} className="shrink-0" />
      <span className="truncate">
        {at ? "Starts after" : "Depends on"} {what}
      </span>
    </span>
  );
}

function Life({ run }: { run: NonNullable<Card["run"]> }) {
  const age = useAge(run.printed_at ?? run.started_at);
  if (run.status !== "running")
    return (
      <span className="flex items-center gap-1">
        <span className="size-1.5 rounded-full bg-line-strong" /> {run.agent ?? "agent"}{" "}
        {run.status}
      </span>
    );
  const quiet = age !== null && age > QUIET_S;
  return (
    <span
      className={cx("flex items-center gap-1", quiet && "font-medium text-warn")}
      title="Time since the agent last printed something"
    >
      <span className={cx("size-1.5 rounded-full", quiet ? "bg-warn" : "pulse-dot bg-good")} />
      {run.agent ?? "agent"} · {quiet ? "quiet " : ""}
      {age === null ? "starting" : duration(age)}
    </span>
  );
}
