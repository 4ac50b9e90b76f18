import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FlaskConical, History, Pencil, X } from "lucide-react";
import { useMemo, useState } from "react";
import type { Pipeline, Schemas, TaskView } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { useAge } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { Details } from "./Details";
import { FindingList } from "./Findings";
import { Head } from "./Head";
import { PanelTabs, TabCount } from "./PanelTabs";
import { PathPanel } from "./PathPanel";
import { type Lit, pathOf } from "./path";
import { ownerOf, pipelineQueries } from "./queries";
import { Simulate } from "./Simulate";
import { StatusList } from "./StatusList";
import { placed, type Selected } from "./shape";
import { Versions } from "./Versions";
import { Workbench } from "./Workbench";

type Tab = "path" | "statuses" | "findings" | "simulate";

/** A saved pipeline, in one of its versions. */
export function Viewer({ pipeline, view }: { pipeline: Pipeline; view: TaskView | undefined }) {
  const { id, version } = pipeline;
  const { project, task } = useSearch({ from: "/frame/pipelines/$pipelineId" });
  const navigate = useNavigate();
  const owner = ownerOf(id);
  const [tab, setTab] = useState<Tab>(task ? "path" : "statuses");
  const [selected, setSelected] = useState<Selected | null>(null);
  const [walk, setWalk] = useState<Lit | null>(null);
  const [versionsOpen, setVersionsOpen] = useState(false);
  const form = useMemo(() => ({ pipeline: id, version, project: owner }), [id, version, owner]);
  const lint = useQuery(pipelineQueries.lint(form)).data;
  const parts = useQuery(pipelineQueries.parts(owner)).data;
  const counts = useQuery(pipelineQueries.counts(id, project)).data ?? null;
  const steps = useQuery({ ...pipelineQueries.path(task ?? ""), enabled: !!task }).data;
  const path = usePath(view, steps);
  const found = lint?.findings ?? [];
  const findings = useMemo(() => placed(lint?.findings ?? []), [lint]);
  const lit = tab === "simulate" ? walk : path;
  const select = (next: Selected | null) => {
    setSelected(next);
    if (next && tab !== "simulate") setTab("statuses");
  };
  const edit = () => void navigate({ to: ".", search: (now) => ({ ...now, edit: true }) });
  useShortcuts("Pipeline", [
    { keys: "e", label: "Edit", run: edit },
    { keys: "s", label: "Simulate", run: () => setTab("simulate") },
    { keys: "v", label: "Versions", run: () => setVersionsOpen(true) },
  ]);
  const shown = { shape: pipeline, findings, lit, counts, parts, onSelect: select };
  return (
    <div className="flex h-full flex-col">
      <Head
        id={id}
        name={pipeline.name}
        chips={
          <>
            <Chip>version {version}</Chip>
            {view && (
              <Chip tone="accent">
                the path of {clean(view.task.title)}
                <Link
                  to="."
                  search={(now) => ({ ...now, task: undefined })}
                  aria-label="Show no path"
                  className="grid size-4 place-items-center rounded-full hover:bg-hover"
                >
                  <X size={11} />
                </Link>
              </Chip>
            )}
          </>
        }
      >
        <Button look="quiet" className="max-sm:hidden" onClick={() => setTab("simulate")} hint="s">
          <FlaskConical size={15} /> Simulate
        </Button>
        <Button look="quiet" onClick={() => setVersionsOpen(true)} hint="v">
          <History size={15} /> Versions
        </Button>
        <Button onClick={edit} hint="e" className="max-sm:hidden">
          <Pencil size={14} /> Edit
        </Button>
      </Head>
      <Workbench
        {...shown}
        selected={selected}
        panelName="Parts of the pipeline"
        panel={
          <PanelTabs
            value={tab}
            onChange={(next) => setTab(next as Tab)}
            tabs={[
              ...(view && path
                ? [
                    {
                      id: "path",
                      label: "Path",
                      content: (
                        <PathPanel view={view} lit={path} shape={pipeline} onSelect={select} />
                      ),
                    },
                  ]
                : []),
              {
                id: "statuses",
                label: "Statuses",
                content: selected ? (
                  <Details selected={selected} {...shown} />
                ) : (
                  <>
                    {pipeline.description && (
                      <p className="border-b px-4 py-2 text-ink-2">{clean(pipeline.description)}</p>
                    )}
                    <StatusList {...shown} />
                  </>
                ),
              },
              {
                id: "findings",
                label: (
                  <>
                    Findings{" "}
                    <TabCount
                      number={found.length}
                      bad={found.some((one) => one.severity === "error")}
                    />
                  </>
                ),
                content: (
                  <>
                    <FindingList findings={found} onSelect={select} />
                    {lint && lint.plugins.length > 0 && (
                      <p className="border-t p-3 text-xs text-ink-2">
                        It has {plural(lint.plugins.length, "part")} from plugins:{" "}
                        {lint.plugins.map((one) => clean(`${one.name} (${one.plugin})`)).join(", ")}
                      </p>
                    )}
                  </>
                ),
              },
              {
                id: "simulate",
                label: "Simulate",
                content: <Simulate shape={pipeline} form={form} parts={parts} onPath={setWalk} />,
              },
            ]}
          />
        }
      />
      <Versions open={versionsOpen} onClose={() => setVersionsOpen(false)} pipeline={pipeline} />
    </div>
  );
}

/** Renewed by the minute, so that time in the current status goes on. */
function usePath(view: TaskView | undefined, path: Schemas["TaskPath"] | undefined): Lit | null {
  const age = useAge(view?.task.created_at ?? null);
  return useMemo(() => {
    if (!view || !path) return null;
    return pathOf(view.task.status, path, Date.parse(view.task.created_at) + (age ?? 0) * 1000);
  }, [view, path, age]);
}
