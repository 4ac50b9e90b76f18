import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { api, BASE, data, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Input, Select } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";

type Entry = Schemas["AuditEntry"];

const KINDS = [
  ["login", "Log-ins"],
  ["token", "Tokens"],
  ["project", "Projects and trust"],
  ["consent", "Consent"],
  ["settings", "Settings"],
  ["pipeline", "Pipelines"],
  ["permission", "Permissions"],
  ["budget", "Budgets"],
  ["task", "Deleted tasks"],
  ["workspace", "Removed workspaces"],
  ["retention", "Retention"],
  ["data", "Restores"],
] as const;
const SPANS = [
  ["", "At any time"],
  ["24h", "Within a day"],
  ["7d", "Within a week"],
  ["30d", "Within a month"],
] as const;
const NO_FILTER = { what: "", who: "", since: "" };

/** Who decided what, when and from where: `am audit`. */
export function Audit() {
  const me = useQuery(queries.me());
  return (
    <Await query={me}>
      {(who) =>
        who.admin ? (
          <Entries />
        ) : (
          <Empty title="For admins">Your role is {who.role}; this needs the role admin.</Empty>
        )
      }
    </Await>
  );
}

function Entries() {
  const [filter, setFilter] = useState(NO_FILTER);
  const who = useDeferredValue(filter.who.trim());
  const query = {
    what: filter.what || undefined,
    since: filter.since || undefined,
    who: who || undefined,
  };
  const entries = useInfiniteQuery({
    queryKey: ["audit", query],
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/api/v1/audit", {
          params: { query: { ...query, limit: 100, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: (before) => before,
  });
  return (
    <Section
      title="Decisions"
      note="what happened to a task is in its timeline"
      actions={
        <Button size="small" asChild>
          <a href={`${BASE}/api/v1/audit/export?${given(query)}`} download>
            Export
          </a>
        </Button>
      }
    >
      <div className="flex flex-wrap gap-2">
        <Select
          aria-label="Kind"
          value={filter.what}
          onChange={(event) => setFilter({ ...filter, what: event.target.value })}
        >
          <option value="">Everything</option>
          {KINDS.map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Time"
          value={filter.since}
          onChange={(event) => setFilter({ ...filter, since: event.target.value })}
        >
          {SPANS.map(([span, words]) => (
            <option key={span} value={span}>
              {words}
            </option>
          ))}
        </Select>
        <Input
          aria-label="Name of the person or program"
          placeholder="Name"
          className="w-40"
          value={filter.who}
          onChange={(event) => setFilter({ ...filter, who: event.target.value })}
        />
      </div>
      <Await query={entries}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.items);
          return rows.length === 0 ? (
            <Empty icon={<ScrollText />} title="Nothing of this was decided">
              Log-ins, trust, settings and deletions are listed here.
            </Empty>
          ) : (
            <Panel>
              <ol aria-label="Decisions" className="divide-y">
                {rows.map((entry) => (
                  <Row key={entry.id} entry={entry} />
                ))}
              </ol>
            </Panel>
          );
        }}
      </Await>
      {entries.hasNextPage && (
        <Button onClick={() => entries.fetchNextPage()} disabled={entries.isFetchingNextPage}>
          Show older ones
        </Button>
      )}
    </Section>
  );
}

function Row({ entry }: { entry: Entry }) {
  const from = [entry.via, entry.address].filter(Boolean).join(" ");
  const bad = entry.what === "login.refused";
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-3 py-2 hover:bg-hover/50">
      <span className="w-24 shrink-0 text-xs text-ink-3">
        <Ago time={entry.time} />
      </span>
      <span className="min-w-0 flex-1 basis-72 [overflow-wrap:anywhere]">
        <b className="font-medium">{clean(entry.who)}</b> {clean(entry.summary)}
      </span>
      <span className="flex items-center gap-2 text-xs text-ink-3">
        {from}
        <Chip tone={bad ? "warn" : "neutral"}>{entry.what}</Chip>
      </span>
    </li>
  );
}

function given(query: Record<string, string | undefined>): string {
  const parts = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  return new URLSearchParams(parts).toString();
}
