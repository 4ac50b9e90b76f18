import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useParams } from "@tanstack/react-router";
import { Bot, User } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Panel, Section } from "@/kit/Page";
import { Await } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";
import { ContradictDialog } from "./ContradictDialog";
import { EditNode } from "./EditNode";
import { KindChip, MEANINGS, NodeLink, SeverityChip, StateChip, TaskLink, Worth } from "./look";
import { knowledge, type NodeView } from "./queries";
import { RetireDialog } from "./RetireDialog";
import { relationOf } from "./relations";
import { useCare } from "./useCare";
import { nameOf } from "./words";

/** One finding: what it says, who says so, what hangs on it, and what can be done with it. */
export function NodePage() {
  const { nodeId } = useParams({ from: "/frame/knowledge/nodes/$nodeId" });
  const view = useQuery(knowledge.node(nodeId));
  return (
    <Await query={view}>
      {(found) =>
        found.node.id === nodeId ? (
          <Shown key={nodeId} view={found} />
        ) : (
          <Navigate
            to="/knowledge/nodes/$nodeId"
            params={{ nodeId: found.node.id }}
            search
            hash
            replace
          />
        )
      }
    </Await>
  );
}

function Shown({ view }: { view: NodeView }) {
  const { node, project } = view;
  const care = useCare();
  const [wished, setWished] = useState<"edit" | "retire" | "contradict" | null>(null);
  const close = () => setWished(null);
  const own = node.kind !== "task";
  const standing = node.state !== "retired";
  const confirm = () => !care.confirm.isPending && care.confirm.mutate(node.id);
  useShortcuts(
    "Finding",
    [
      { keys: "y", label: "It holds", run: confirm },
      { keys: "e", label: "Edit", run: () => setWished("edit") },
      { keys: "x", label: "Retire", run: () => standing && setWished("retire") },
      { keys: "d", label: "Contradict", run: () => standing && setWished("contradict") },
    ],
    own,
  );
  return (
    <div className="mx-auto max-w-4xl space-y-6 p-4 sm:p-6">
      <header className="space-y-3">
        <nav aria-label="Where this is" className="text-xs text-ink-3">
          <Link to="/knowledge" className="hover:underline">
            Knowledge
          </Link>{" "}
          / {clean(project.name)}
        </nav>
        <h1 className="text-lg font-semibold wrap-anywhere">{clean(node.text)}</h1>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-xs text-ink-3">
          <KindChip kind={node.kind} />
          {node.severity && <SeverityChip severity={node.severity} />}
          <StateChip state={node.state} />
          {node.tags.map((tag) => (
            <Link
              key={tag}
              to="/knowledge"
              search={{ tag }}
              className="rounded px-1 py-1 text-ink-2 hover:bg-hover hover:text-ink"
            >
              #{clean(tag)}
            </Link>
          ))}
          <Worth used={node.used} helpful={node.helpful} />
          <span>
            first told <Ago time={node.created_at} />
          </span>
          {node.confirmed_at && (
            <span>
              confirmed <Ago time={node.confirmed_at} />
              {node.confirmed_commit && ` at ${node.confirmed_commit.slice(0, 8)}`}
            </span>
          )}
        </div>
        {node.state !== "active" && <p className="text-ink-2">{MEANINGS[node.state]}</p>}
        <div className="flex flex-wrap gap-2">
          {own && (
            <>
              <Button
                look={node.state === "active" ? "plain" : "primary"}
                hint="y"
                disabled={care.confirm.isPending}
                onClick={confirm}
              >
                {standing ? "It holds" : "It holds after all"}
              </Button>
              <Button hint="e" onClick={() => setWished("edit")}>
                Edit
              </Button>
              {standing && (
                <>
                  <Button hint="d" onClick={() => setWished("contradict")}>
                    Contradict…
                  </Button>
                  <Button look="danger" hint="x" onClick={() => setWished("retire")}>
                    Retire…
                  </Button>
                </>
              )}
            </>
          )}
          {standing && (
            <Button asChild look="quiet">
              <Link to="/knowledge/graph" search={{ project: project.name, node: node.id }}>
                Show in the graph
              </Link>
            </Button>
          )}
        </div>
      </header>
      <Details view={view} />
      <Related view={view} />
      <Section title="Who says so" note="The words of agents are data, never an instruction.">
        <Panel className="divide-y">
          {node.sources.map((source, index) => (
            <Source key={index} source={source} view={view} />
          ))}
          {node.sources.length === 0 && <p className="px-4 py-3 text-ink-3">Nobody any more.</p>}
        </Panel>
      </Section>
      {wished === "edit" && <EditNode node={node} onClose={close} />}
      {wished === "retire" && <RetireDialog node={node} retire={care.retire} onClose={close} />}
      {wished === "contradict" && (
        <ContradictDialog view={view} contradict={care.contradict} onClose={close} />
      )}
    </div>
  );
}

function Details({ view }: { view: NodeView }) {
  const given = Object.entries(view.node.detail).filter(([, value]) => value !== "");
  if (given.length === 0) return null;
  return (
    <dl className="grid grid-cols-[9rem_1fr] gap-x-4 gap-y-2 max-sm:grid-cols-1 max-sm:gap-y-0.5">
      {given.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3 max-sm:mt-2 max-sm:text-xs">{nameOf(name)}</dt>
          <dd className="whitespace-pre-wrap wrap-anywhere">{saidOf(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function saidOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return clean(typeof value === "string" ? value : JSON.stringify(value));
}

function Related({ view }: { view: NodeView }) {
  if (view.related.length === 0) return null;
  return (
    <Section title="What hangs together with it">
      <Panel className="divide-y">
        {view.related.map(({ kind, outward, node }) => (
          <div
            key={`${kind} ${outward} ${node.id}`}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5"
          >
            <span
              className={`w-28 shrink-0 text-xs ${kind === "contradicts" ? "font-medium text-bad" : "text-ink-3"}`}
            >
              {relationOf(kind, outward)}
            </span>
            <span className="min-w-0 flex-1 basis-52">
              <NodeLink node={node} />
            </span>
            <KindChip kind={node.kind} />
            {node.state !== "active" && <StateChip state={node.state} />}
          </div>
        ))}
      </Panel>
    </Section>
  );
}

function Source({ source, view }: { source: Schemas["KnowledgeSource"]; view: NodeView }) {
  const task = view.tasks.find((one) => one.id === source.task_id);
  const Icon = source.run_id ? Bot : User;
  return (
    <div className="space-y-1.5 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Icon size={14} className="text-ink-3" />
        <span className="font-medium">
          {source.run_id ? "An agent" : "A person"}: {clean(source.by)}
        </span>
        {task ? <TaskLink task={task} /> : <span className="text-ink-3">no task of here</span>}
        {task && source.run_id && (
          <Link
            to="/tasks/$taskId"
            params={{ taskId: task.id }}
            search={{ tab: "transcript", run: source.run_id }}
            className="text-xs text-accent-text hover:underline"
          >
            its run
          </Link>
        )}
        <span className="ml-auto text-xs text-ink-3">
          <Ago time={source.at} />
        </span>
      </div>
      {(source.file || source.commit) && (
        <p className="font-mono text-xs break-all text-ink-2">
          {source.file && (
            <Link
              to="/knowledge"
              search={{ file: source.file, project: view.project.name }}
              className="hover:underline"
            >
              {clean(source.file)}
            </Link>
          )}
          {source.lines && `:${clean(source.lines)}`}
          {source.commit && (
            <span className="text-ink-3"> at {clean(source.commit).slice(0, 8)}</span>
          )}
        </p>
      )}
      {source.words && (
        <blockquote className="border-l-2 pl-3 whitespace-pre-wrap text-ink-2 wrap-anywhere">
          {clean(source.words)}
        </blockquote>
      )}
    </div>
  );
}
