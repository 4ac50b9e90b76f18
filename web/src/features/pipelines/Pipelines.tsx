import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { OctagonAlert, Workflow } from "lucide-react";
import type { Pipeline, Project, Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Chip } from "@/kit/Chip";
import { Page, Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Table } from "@/kit/Table";
import { clean, plural } from "@/kit/text";
import { ownerOf, pipelineQueries, plainId } from "./queries";
import { behind } from "./Versions";

/** Every pipeline that new tasks can follow, and the files of projects that cannot be used. */
export function Pipelines() {
  const { project } = useSearch({ from: "/frame" });
  const pipelines = useQuery(queries.pipelines());
  const projects = useQuery(queries.projects()).data?.items ?? [];
  const builtIn = useQuery(pipelineQueries.parts()).data?.built_in ?? [];
  const chosen = projects.filter((one) => !project || one.name === project);
  return (
    <Page title="Pipelines" note="The ways that tasks can go, from open to done.">
      <Broken projects={chosen} />
      <Await query={pipelines}>
        {({ items }) => {
          const shown = items.filter((one) => {
            const owner = ownerOf(one.id);
            return !owner || chosen.some((each) => each.id === owner);
          });
          return shown.length === 0 ? (
            <Empty icon={<Workflow size={28} />} title="No pipeline yet">
              Those that come with the product appear when the server has started.
            </Empty>
          ) : (
            <Listed items={shown} builtIn={builtIn} projects={projects} />
          );
        }}
      </Await>
    </Page>
  );
}

function Listed({
  items,
  builtIn,
  projects,
}: {
  items: Pipeline[];
  builtIn: string[];
  projects: Project[];
}) {
  const versions = useQueries({ queries: items.map((one) => pipelineQueries.versions(one.id)) });
  const rows = items.map((one, index) => ({ one, versions: versions[index]?.data?.items }));
  const origin = (id: string) => {
    const owner = ownerOf(id);
    if (!owner) return builtIn.includes(id) ? "built in" : "saved";
    return `@${projects.find((each) => each.id === owner)?.name ?? owner}`;
  };
  return (
    <Table
      label="Pipelines"
      rows={rows}
      rowKey={({ one }) => one.id}
      columns={[
        {
          title: "Pipeline",
          cell: ({ one }) => (
            <Link
              to="/pipelines/$pipelineId"
              params={{ pipelineId: one.id }}
              className="block max-sm:min-h-11"
            >
              <span className="flex items-center gap-2 font-medium">
                <span className="truncate hover:underline">{clean(one.name)}</span>
                <code className="font-mono text-xs font-normal text-ink-3">
                  {clean(plainId(one.id))}
                </code>
              </span>
              <span className="block truncate text-xs text-ink-2 max-sm:hidden">
                {clean(one.description)}
              </span>
              <span className="block text-xs text-ink-2 sm:hidden">
                {clean(origin(one.id))}, version {one.version}
              </span>
            </Link>
          ),
        },
        {
          title: "From",
          minor: true,
          cell: ({ one }) => <Chip>{clean(origin(one.id))}</Chip>,
        },
        { title: "Statuses", right: true, minor: true, cell: ({ one }) => one.statuses.length },
        {
          title: "Version",
          right: true,
          minor: true,
          cell: ({ one, versions: known }) => (
            <span title={known && plural(known.length, "version")}>{one.version}</span>
          ),
        },
        {
          title: "Unfinished tasks",
          right: true,
          minor: true,
          cell: ({ versions: known }) =>
            known ? known.reduce((sum, one) => sum + one.tasks, 0) : "…",
        },
        {
          title: "Behind",
          right: true,
          cell: ({ versions: known }) => {
            if (!known) return "…";
            const late = behind(known);
            return late > 0 ? <Chip tone="warn">{plural(late, "task")}</Chip> : "none";
          },
        },
      ]}
    />
  );
}

function Broken({ projects }: { projects: Project[] }) {
  const read = useQueries({ queries: projects.map((one) => pipelineQueries.files(one.id)) });
  const broken = projects.flatMap((project, index) =>
    (read[index]?.data?.items ?? [])
      .filter((file) => file.errors.length > 0)
      .map((file) => ({ project, file })),
  );
  if (broken.length === 0) return null;
  return (
    <Section title="Files that cannot be used">
      <ul className="space-y-2">
        {broken.map(({ project, file }) => (
          <BrokenFile key={file.path} project={project} file={file} />
        ))}
      </ul>
    </Section>
  );
}

function BrokenFile({ project, file }: { project: Project; file: Schemas["PipelineFile"] }) {
  return (
    <li className="rounded-xl border border-bad/40 bg-bad-soft px-3 py-2">
      <p className="flex flex-wrap items-center gap-2 font-medium">
        <OctagonAlert aria-label="error" size={15} className="text-bad" />
        {clean(project.name)}
        <code className="min-w-0 font-mono text-xs font-normal break-all">{clean(file.path)}</code>
      </p>
      <ul className="list-disc pl-8">
        {file.errors.map((error) => (
          <li key={error} className="break-words">
            {clean(error)}
          </li>
        ))}
      </ul>
      <p className="pt-1 text-xs text-ink-2">
        {file.version === null
          ? "Tasks cannot be created with it."
          : `New tasks follow version ${file.version}, the last that was good.`}
      </p>
    </li>
  );
}
