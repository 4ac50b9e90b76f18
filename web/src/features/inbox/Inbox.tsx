import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import { AlarmClock, ChevronLeft, ChevronRight, Group as GroupIcon } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { toast } from "sonner";
import type { InboxItem, Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { useShortcuts } from "@/app/keys";
import { PromptPanel } from "@/features/prompts/PromptPanel";
import { undoLatest } from "@/features/prompts/useSender";
import { Button } from "@/kit/Button";
import { Menu } from "@/kit/Menu";
import { Await } from "@/kit/State";
import { Tooltip } from "@/kit/Tooltip";
import { AllClear } from "./AllClear";
import { BatchAccept } from "./BatchAccept";
import { useKept } from "./kept";
import { Queue } from "./Queue";
import { grouped, listed, nextAfter, parted, type Snoozes, stepped, tomorrow } from "./queue";

const HOUR_MS = 3_600_000;
/** So many questions before the last that was read, more are. */
const AHEAD = 20;

export function Inbox() {
  const { project } = useSearch({ from: "/frame/inbox" });
  const inbox = useInfiniteQuery(queries.inbox(project));
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = inbox;
  return (
    <>
      <h1 className="sr-only">Inbox</h1>
      <Await query={inbox} rows={8}>
        {({ pages }) => (
          <Answering
            pages={pages}
            more={hasNextPage}
            load={isFetching || isFetchNextPageError ? undefined : () => void fetchNextPage()}
          />
        )}
      </Await>
    </>
  );
}

function Answering({
  pages,
  more,
  load,
}: {
  pages: Schemas["Inbox"][];
  more: boolean;
  /** Reads the next page; undefined while something is read, and where that failed. */
  load: (() => void) | undefined;
}) {
  const { prompt: wanted } = useSearch({ from: "/frame/inbox" });
  const total = pages[0]?.total ?? 0;
  const elsewhere = (useQuery(queries.waiting()).data ?? total) - total;
  const items = useMemo(() => listed(pages), [pages]);
  const navigate = useNavigate();
  const [byKind, setByKind] = useKept("am:inbox:by-kind", false);
  const [snoozes, setSnoozes] = useKept<Snoozes>("am:inbox:snoozes", {});
  // What was answered here is gone at once, whatever the list says for a moment longer.
  const [done, setDone] = useState<string[]>([]);
  const left = items.filter((one) => !done.includes(one.prompt.id));
  const { open, snoozed } = parted(left, snoozes, Date.now());
  const groups = grouped(open, byKind);
  const ids = groups.flatMap((group) => group.items.map((one) => one.prompt.id));
  const current = wanted ?? ids[0];
  const at = current ? ids.indexOf(current) : -1;
  const number = more ? Math.max(ids.length, total - snoozed.length) : ids.length;
  const near = more && at >= ids.length - AHEAD;
  useEffect(() => {
    if (near) load?.();
  }, [near, load]);
  const show = (id: string | undefined) =>
    void navigate({
      to: "/inbox",
      search: (before) => ({ ...before, prompt: id }),
      replace: true,
    });
  // The question stays when another comes before it, and when somebody else answers it.
  useEffect(() => {
    if (!wanted && current)
      void navigate({
        to: "/inbox",
        search: (before) => ({ ...before, prompt: current }),
        replace: true,
      });
  }, [wanted, current, navigate]);
  const snooze = (until: number, words: string) => {
    if (!current) return;
    const awake = Object.entries(snoozes).filter(([, time]) => time > Date.now());
    setSnoozes({ ...Object.fromEntries(awake), [current]: until });
    toast(`Snoozed ${words}, in this browser`, {
      action: {
        label: "Undo",
        onClick: () => {
          setSnoozes(Object.fromEntries(awake));
          show(current);
        },
      },
    });
    show(nextAfter(ids, current));
  };
  const shown = items.find((one) => one.prompt.id === current);
  const openTask = () =>
    shown && void navigate({ to: "/tasks/$taskId", params: { taskId: shown.task.id } });
  useShortcuts("Inbox", [
    { keys: "j", label: "Next question", run: () => show(stepped(ids, current, 1)) },
    { keys: "k", label: "Question before", run: () => show(stepped(ids, current, -1)) },
    {
      keys: "s",
      label: "Snooze for an hour",
      run: () => snooze(Date.now() + HOUR_MS, "for an hour"),
    },
    { keys: "o", label: "Open the task", run: openTask },
    { keys: "z", label: "Take the last answer back", run: undoLatest },
  ]);
  const snoozeMenu = (
    <Menu
      label="Snooze"
      trigger={
        <Button size="icon" look="quiet" aria-label="Snooze" disabled={!shown}>
          <AlarmClock size={16} />
        </Button>
      }
      items={[
        {
          label: "For an hour",
          hint: "s",
          onSelect: () => snooze(Date.now() + HOUR_MS, "for an hour"),
        },
        {
          label: "For four hours",
          onSelect: () => snooze(Date.now() + 4 * HOUR_MS, "for four hours"),
        },
        {
          label: "Until tomorrow at 9",
          onSelect: () => snooze(tomorrow(new Date()), "until tomorrow at 9"),
        },
      ]}
    />
  );
  const allClear = <AllClear snoozed={snoozed.length} elsewhere={elsewhere} />;
  if (ids.length === 0 && snoozed.length === 0 && !current) return allClear;
  return (
    <div className="flex h-full min-h-0">
      <aside className="flex w-80 shrink-0 flex-col border-r bg-sunken max-lg:w-64 max-sm:hidden">
        <div className="space-y-2 border-b px-3 py-2">
          <div className="flex items-center gap-1">
            <p className="flex-1 font-semibold">
              Inbox <span className="font-normal text-ink-3">{number}</span>
            </p>
            <Tooltip text={byKind ? "In the order of their age" : "Group by kind"}>
              <Button
                size="icon"
                look="quiet"
                aria-label="Group by kind"
                aria-pressed={byKind}
                className={byKind ? "text-accent-text" : ""}
                onClick={() => setByKind(!byKind)}
              >
                <GroupIcon size={16} />
              </Button>
            </Tooltip>
            {snoozeMenu}
          </div>
          <BatchAccept items={open} />
        </div>
        <Queue groups={groups} snoozed={snoozed} current={current} onEnd={() => more && load?.()} />
      </aside>
      <div className="min-w-0 flex-1 overflow-y-auto sm:px-5 sm:pt-5">
        <div className="flex items-center gap-1 border-b bg-sunken px-2 sm:hidden">
          <Button
            size="icon"
            look="quiet"
            aria-label="Question before"
            disabled={at <= 0}
            onClick={() => show(stepped(ids, current, -1))}
          >
            <ChevronLeft size={18} />
          </Button>
          <p className="flex-1 text-center text-xs text-ink-2 tabular-nums">
            {at >= 0 ? `${at + 1} of ${number}` : `${number} open`}
          </p>
          {snoozeMenu}
          <Button
            size="icon"
            look="quiet"
            aria-label="Next question"
            disabled={ids.length === 0 || at === ids.length - 1}
            onClick={() => show(stepped(ids, current, 1))}
          >
            <ChevronRight size={18} />
          </Button>
        </div>
        {current ? (
          <Card
            key={current}
            id={current}
            item={shown}
            onAnswered={() => {
              setDone([...done, current]);
              show(nextAfter(ids, current));
            }}
            onUndone={show}
          />
        ) : (
          allClear
        )}
      </div>
    </div>
  );
}

/** One question: of the list, or by its address if it is no longer open. */
function Card({
  id,
  item,
  onAnswered,
  onUndone,
}: {
  id: string;
  item: InboxItem | undefined;
  onAnswered: () => void;
  onUndone: (promptId: string) => void;
}) {
  const closed = useQuery({ ...queries.prompt(id), enabled: item === undefined });
  return (
    <Await query={item ? { ...closed, data: item } : closed}>
      {(found) =>
        found.prompt.id === id ? (
          <PromptPanel
            alone
            item={found}
            onAnswered={onAnswered}
            onUndone={onUndone}
            className="slide-in mx-auto max-w-3xl sm:mb-5 max-sm:rounded-none max-sm:border-0"
          />
        ) : (
          <Navigate
            to="/inbox"
            search={(before) => ({ ...before, prompt: found.prompt.id })}
            replace
          />
        )
      }
    </Await>
  );
}
