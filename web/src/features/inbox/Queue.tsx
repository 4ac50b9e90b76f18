import { Link } from "@tanstack/react-router";
import { AlarmClock, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import type { InboxItem } from "@/api/client";
import { kindOf } from "@/features/prompts/payloads";
import { cx } from "@/kit/cx";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import type { Group } from "./queue";

/** All that waits, in its order. */
export function Queue({
  groups,
  snoozed,
  current,
}: {
  groups: Group[];
  snoozed: InboxItem[];
  current: string | undefined;
}) {
  return (
    <nav aria-label="Questions" className="min-h-0 flex-1 overflow-y-auto pb-4">
      {groups.map((group) => (
        <section key={group.kind?.id ?? "all"}>
          {group.kind && (
            <h2 className="sticky top-0 bg-sunken px-3 py-1.5 text-xs font-semibold text-ink-3">
              {group.kind.many} <span className="font-normal">{group.items.length}</span>
            </h2>
          )}
          <Rows items={group.items} current={current} />
        </section>
      ))}
      {snoozed.length > 0 && (
        <details className="mt-2 border-t" open={snoozed.some((one) => one.prompt.id === current)}>
          <summary className="flex items-center gap-1.5 px-3 py-2 text-xs text-ink-3 hover:text-ink">
            <AlarmClock size={13} /> Snoozed {snoozed.length}
          </summary>
          <Rows items={snoozed} current={current} />
        </details>
      )}
    </nav>
  );
}

function Rows({ items, current }: { items: InboxItem[]; current: string | undefined }) {
  return (
    <ul>
      {items.map((item) => (
        <Row key={item.prompt.id} item={item} chosen={item.prompt.id === current} />
      ))}
    </ul>
  );
}

function Row({ item, chosen }: { item: InboxItem; chosen: boolean }) {
  const row = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <li>
      <Link
        ref={row}
        to="/inbox"
        search={(before) => ({ ...before, prompt: item.prompt.id })}
        replace
        aria-current={chosen ? "true" : undefined}
        className={cx(
          "relative block border-b px-3 py-2.5 hover:bg-hover",
          chosen && "bg-accent-soft hover:bg-accent-soft",
        )}
      >
        {chosen && <span className="absolute inset-y-0 left-0 w-0.5 bg-accent" />}
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">{clean(item.task.title)}</span>
          <span className="shrink-0 text-[11px] text-ink-2">
            <Ago time={item.prompt.created_at} suffix="" />
          </span>
        </span>
        <span className="mt-0.5 line-clamp-2 text-xs text-ink-2 wrap-anywhere">
          {clean(item.summary)}
        </span>
        <span className="mt-1 flex items-center gap-2 text-[11px] text-ink-2">
          {kindOf(item.prompt).label}
          <span aria-hidden>·</span>
          <span className="truncate">{clean(item.project.name)}</span>
          {item.waiting_behind.length > 0 && (
            <span className="ml-auto flex shrink-0 items-center text-you">
              <ChevronRight size={12} /> {plural(item.waiting_behind.length, "task")} behind
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}
