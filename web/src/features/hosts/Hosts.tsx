import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hourglass } from "lucide-react";
import { api, data, type Schemas } from "@/api/client";
import { Page, Panel, Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Table } from "@/kit/Table";
import { clean, plural } from "@/kit/text";
import { HostCard } from "./HostCard";

const AGAIN_MS = 5_000;

export function Hosts() {
  const hosts = useQuery({
    queryKey: ["hosts"],
    queryFn: () => data(api.GET("/api/v1/hosts")),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title="Hosts"
      note="The machines that agents work on, how far their limits are used, and what waits."
    >
      <Await query={hosts}>
        {(found) => (
          <>
            <Section
              title="Machines"
              note={`${plural(found.hosts.length, "machine")}, ${plural(atWork(found), "agent")} at work`}
            >
              <Panel className="divide-y">
                {found.hosts.map((host) => (
                  <HostCard key={host.id} host={host} />
                ))}
              </Panel>
            </Section>
            <Limits found={found} />
            <Waiting found={found} />
          </>
        )}
      </Await>
    </Page>
  );
}

const atWork = (found: Schemas["Hosts"]) =>
  found.hosts.reduce((sum, host) => sum + host.working.length, 0);

function Limits({ found }: { found: Schemas["Hosts"] }) {
  const uses = [
    ...found.projects.map((use) => ({ ...use, of: "project" })),
    ...found.agents.map((use) => ({ ...use, of: "agent" })),
  ];
  if (uses.length === 0) return null;
  return (
    <Section title="By project and agent" note="over all machines">
      <Table
        label="Use by project and agent"
        rows={uses}
        rowKey={(use) => `${use.of} ${use.name}`}
        columns={[
          { title: "Name", cell: (use) => clean(use.name) },
          { title: "Of", cell: (use) => use.of, minor: true },
          { title: "At work", cell: (use) => use.working, right: true },
          { title: "At most", cell: (use) => use.most ?? "no limit", right: true },
        ]}
      />
    </Section>
  );
}

function Waiting({ found }: { found: Schemas["Hosts"] }) {
  const { waiting, waiting_in_all: all } = found;
  const some = all > waiting.length ? `the first ${waiting.length} of ${all}` : plural(all, "run");
  if (all === 0)
    return (
      <Section title="Waiting for a place">
        <Panel>
          <Empty icon={<Hourglass size={24} />} title="No agent waits">
            Runs that find no free place are seen here, with the reason.
          </Empty>
        </Panel>
      </Section>
    );
  return (
    <Section title="Waiting for a place" note={some}>
      <Panel className="divide-y">
        {waiting.map((start) => (
          <div key={start.run_id} className="space-y-0.5 px-3 py-2.5">
            <div className="flex flex-wrap items-baseline gap-x-3">
              <Link
                to="/tasks/$taskId"
                params={{ taskId: start.task_id }}
                className="min-w-0 flex-1 basis-48 truncate font-medium hover:underline"
              >
                {clean(start.title)}
              </Link>
              <span className="text-xs text-ink-3">
                {clean(start.project)} · {start.agent ?? "agent not chosen"}
              </span>
            </div>
            <p className="text-ink-2">{start.why ?? "It begins in a moment."}</p>
          </div>
        ))}
      </Panel>
    </Section>
  );
}
