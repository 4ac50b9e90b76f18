/** What the pages of knowledge have in common: their name, the way between them, their project. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { FolderGit2 } from "lucide-react";
import type { ReactNode } from "react";
import { queries } from "@/api/queries";
import { cx } from "@/kit/cx";
import { Await, Empty } from "@/kit/State";

const VIEWS = [
  ["/knowledge", "Search"],
  ["/knowledge/graph", "Graph"],
  ["/knowledge/map", "Context map"],
  ["/knowledge/blockers", "Blockers"],
  ["/knowledge/queue", "Curation"],
] as const;

export function Frame({
  actions,
  children,
  fixed = false,
}: {
  actions?: ReactNode;
  children: ReactNode;
  /** The page does not scroll as a whole: a part of it does. */
  fixed?: boolean;
}) {
  return (
    <div className={cx("flex min-h-full flex-col", fixed && "h-full")}>
      <div className="flex shrink-0 flex-wrap items-center gap-2 px-4 pt-2.5 sm:px-6">
        <h1 className="mr-auto text-lg font-semibold">Knowledge</h1>
        {actions}
      </div>
      <nav
        aria-label="Parts of the knowledge"
        className="flex shrink-0 gap-1 overflow-x-auto border-b px-4 sm:px-6"
      >
        {VIEWS.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            className="flex h-9 shrink-0 items-center border-b-2 border-transparent px-2 text-ink-2 hover:text-ink data-[status=active]:border-accent data-[status=active]:font-medium data-[status=active]:text-ink max-sm:h-11"
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </div>
  );
}

/** For what is there by project alone: the chosen one, or the only one. */
export function OfProject({ children }: { children: (project: string) => ReactNode }) {
  const { project } = useSearch({ from: "/frame" });
  const projects = useQuery(queries.projects());
  if (project) return children(project);
  return (
    <Await query={projects}>
      {({ items }) => {
        const only = items.length === 1 ? items[0] : undefined;
        if (only) return children(only.name);
        return (
          <Empty icon={<FolderGit2 size={28} />} title="Of which project?">
            {items.length === 0 ? (
              "There is no project yet."
            ) : (
              <ul className="grid gap-1">
                {items.map((one) => (
                  <li key={one.id}>
                    <Link
                      to="."
                      search={(before) => ({ ...before, project: one.name })}
                      className="flex min-h-11 items-center justify-center rounded-md border px-4 font-medium text-ink hover:bg-hover"
                    >
                      {one.name}
                    </Link>
                  </li>
                ))}
              </ul>
            )}
          </Empty>
        );
      }}
    </Await>
  );
}
