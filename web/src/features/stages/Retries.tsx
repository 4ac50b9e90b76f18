import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { Panel } from "@/kit/Page";
import { Ago } from "@/kit/Time";
import { clean, shortened } from "@/kit/text";
import { numberOf } from "./standing";

/** What was tried again: what went wrong, and what the prompt says about it now. */
export function Retries({ items }: { items: Schemas["RetrySeen"][] }) {
  return (
    <Panel className="divide-y">
      {items.map(({ record, run }, index) => {
        const issue = shortened(clean(record.issue), 2000);
        return (
          <article
            key={index}
            aria-label={`${record.agent}, attempt ${record.attempt}`}
            className="space-y-1 px-3 py-2.5"
          >
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="text-xs text-ink-3 tabular-nums">{numberOf(record.stage)}</span>
              <span className="font-medium">{clean(record.agent)}</span>
              <span className="text-xs text-ink-2">attempt {record.attempt}</span>
              <span className="ml-auto flex items-center gap-3 text-xs text-ink-3">
                <Link
                  to="."
                  hash=""
                  search={(before) => ({ ...before, tab: "transcript", run })}
                  className="text-accent-text hover:underline max-sm:py-3"
                >
                  Transcript
                </Link>
                <Ago time={record.timestamp} />
              </span>
            </p>
            <p className="whitespace-pre-wrap text-bad wrap-anywhere">
              {issue.text}
              {issue.cut > 0 && ` … ${issue.cut} more characters`}
            </p>
            <p className="text-ink-2 wrap-anywhere">{clean(record.improvement)}</p>
          </article>
        );
      })}
    </Panel>
  );
}
