import { Link } from "@tanstack/react-router";
import type { TaskView } from "@/api/client";
import { clean, duration, plural } from "@/kit/text";
import { CategoryIcon } from "./look";
import { type Lit, loops } from "./path";
import { place, type Selected, type Shape } from "./shape";

/** Where the time of a task went, the longest first. */
export function PathPanel({
  view,
  lit,
  shape,
  onSelect,
}: {
  view: TaskView;
  lit: Lit;
  shape: Shape;
  onSelect: (selected: Selected) => void;
}) {
  const rows = [...lit.statuses].sort(([, a], [, b]) => (b.seconds ?? 0) - (a.seconds ?? 0));
  const total = rows.reduce((sum, [, visit]) => sum + (visit.seconds ?? 0), 0) || 1;
  const again = loops(lit);
  return (
    <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-3">
      <div>
        <h2 className="text-[15px] font-semibold">
          <Link to="/tasks/$taskId" params={{ taskId: view.task.id }} className="hover:underline">
            {clean(view.task.title)}
          </Link>
        </h2>
        <p className="text-ink-2">
          {clean(place(shape, lit.current))}.{" "}
          {again > 0 ? `It came back ${plural(again, "time")}.` : "It never came back."}
        </p>
        <p className="pt-1 text-ink-2">{clean(view.why)}</p>
      </div>
      <ol className="space-y-1" aria-label="Time in each status">
        {rows.map(([id, visit]) => {
          const index = shape.statuses.findIndex((one) => one.id === id);
          const status = shape.statuses[index];
          return (
            <li key={id}>
              <button
                type="button"
                disabled={!status}
                onClick={() => onSelect({ kind: "status", index })}
                className="w-full rounded-md px-2 py-1.5 text-left hover:bg-hover max-sm:min-h-11"
              >
                <span className="flex items-center gap-2">
                  {status && <CategoryIcon category={status.category} />}
                  <span className="min-w-0 flex-1 truncate">{clean(status?.title ?? id)}</span>
                  {visit.times > 1 && (
                    <span className="text-xs text-ink-2 tabular-nums">{visit.times}×</span>
                  )}
                  <span className="w-20 text-right text-xs text-ink-2 tabular-nums">
                    {duration(visit.seconds)}
                  </span>
                </span>
                <span className="mt-1 block h-1 overflow-hidden rounded-full bg-sunken">
                  <span
                    className="block h-full rounded-full bg-accent"
                    style={{ width: `${((visit.seconds ?? 0) / total) * 100}%` }}
                  />
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
