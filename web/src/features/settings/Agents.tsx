import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { api, data } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Panel, Section } from "@/kit/Page";
import { Await } from "@/kit/State";

/** What `am agent doctor` says. */
export function Agents() {
  const { project } = useSearch({ from: "/frame" });
  const agents = useQuery({
    queryKey: ["agents", project ?? ""],
    queryFn: () => data(api.GET("/api/v1/agents", { params: { query: { project } } })),
  });
  return (
    <Section
      title="Agents"
      note={project ? `as ${project} has them` : "for all projects"}
      actions={
        <Button size="small" onClick={() => agents.refetch()} disabled={agents.isFetching}>
          Look again
        </Button>
      }
    >
      <Await query={agents}>
        {({ items }) => (
          <Panel className="divide-y">
            {items.map((agent) => (
              <div key={agent.name} className="space-y-1 p-3">
                <div className="flex flex-wrap items-center gap-2">
                  <span className="font-medium">{agent.name}</span>
                  <Chip tone={agent.usable ? "good" : "neutral"}>
                    {agent.usable ? "ready" : "not ready"}
                  </Chip>
                  {agent.version && <span className="text-xs text-ink-3">{agent.version}</span>}
                  {agent.model && <span className="text-xs text-ink-3">{agent.model}</span>}
                </div>
                {agent.program && (
                  <p className="font-mono text-xs break-all text-ink-3">{agent.program}</p>
                )}
                {[...agent.missing, ...agent.doubts].map((what) => (
                  <p key={what} className={agent.missing.includes(what) ? "text-bad" : "text-warn"}>
                    {what}
                  </p>
                ))}
              </div>
            ))}
          </Panel>
        )}
      </Await>
    </Section>
  );
}
