import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "@/api/queries";
import { Panel, Section } from "@/kit/Page";
import { clean } from "@/kit/text";
import { StatusChip } from "./StatusChip";

const MOST = 50;

/** The tasks that must be done before this one, and how they stand. */
export function Dependencies({ ids }: { ids: string[] }) {
  const found = useQueries({ queries: ids.slice(0, MOST).map((id) => queries.task(id)) });
  return (
    <Section title="Depends on">
      <Panel className="divide-y">
        {found.map(({ data: view }, index) => (
          <Link
            key={ids[index]}
            to="/tasks/$taskId"
            params={{ taskId: ids[index] as string }}
            className="flex min-h-11 items-center gap-3 px-3 hover:bg-hover/60"
          >
            <span className="min-w-0 flex-1 truncate font-medium">
              {view ? clean(view.task.title) : ids[index]}
            </span>
            {view && <StatusChip status={view.status} />}
          </Link>
        ))}
        {ids.length > MOST && <p className="px-3 py-2 text-ink-3">and {ids.length - MOST} more</p>}
      </Panel>
    </Section>
  );
}
