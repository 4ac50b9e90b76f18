import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { plural } from "@/kit/text";
import type { Tab } from "@/router";

const TABS: [Tab, string][] = [
  ["overview", "Overview"],
  ["transcript", "Transcript"],
  ["changes", "Changes"],
  ["timeline", "Timeline"],
  ["runs", "Runs & costs"],
];
const STAGED: [Tab, string][] = [...TABS, ["stages", "Stages"]];
const BESIDE_PX = 16;

/** The last is there for tasks with stages alone, so that the keys of the others are the same. */
export const tabsOf = (staged: boolean) => (staged ? STAGED : TABS);

export function Tabs({ tab, runs, staged }: { tab: Tab; runs: number; staged: boolean }) {
  const tabs = tabsOf(staged);
  const bar = useRef<HTMLElement>(null);
  // On a phone they do not all fit, and the one that is shown must be seen.
  useEffect(() => {
    const chosen = bar.current?.children[tabs.findIndex(([name]) => name === tab)];
    if (bar.current && chosen instanceof HTMLElement)
      bar.current.scrollLeft = chosen.offsetLeft - BESIDE_PX;
  }, [tab, tabs]);
  return (
    <nav
      ref={bar}
      aria-label="Parts of the task"
      className="sticky top-0 z-10 flex shrink-0 gap-1 overflow-x-auto border-b bg-bg px-4 sm:px-6"
    >
      {tabs.map(([name, label], index) => (
        <Link
          key={name}
          to="."
          search={(before) => ({ ...before, tab: name, run: undefined })}
          hash=""
          aria-current={tab === name ? "page" : undefined}
          title={`${label} (${index + 1})`}
          className="flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-ink-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink max-sm:h-11"
        >
          {label}
          {name === "runs" && runs > 0 && (
            <span className="text-xs text-ink-3" title={plural(runs, "run")}>
              {runs}
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
