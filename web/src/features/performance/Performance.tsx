import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, data, type Schemas } from "@/api/client";
import { Figure } from "@/kit/Figure";
import { Page, Section } from "@/kit/Page";
import { RangeSelect } from "@/kit/RangeSelect";
import { Await } from "@/kit/State";
import { Table } from "@/kit/Table";
import { duration, money, percent } from "@/kit/text";

export function Performance() {
  const { project } = useSearch({ from: "/frame" });
  const { since = "30d" } = useSearch({ from: "/frame/performance" });
  const navigate = useNavigate({ from: "/performance" });
  const span = since === "all" ? undefined : since;
  const stats = useQuery({
    queryKey: ["stats", since, project ?? ""],
    queryFn: () => data(api.GET("/api/v1/stats", { params: { query: { project, since: span } } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Performance"
      note="How runs went, and what merged tasks took."
      actions={
        <RangeSelect
          value={since}
          onChange={(value) =>
            void navigate({ search: (before) => ({ ...before, since: value }), replace: true })
          }
        />
      }
    >
      <Await query={stats}>
        {(report) => (
          <>
            <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
              <Figure name="Runs that succeeded" value={percent(report.work.success_rate)} />
              <Figure name="Mean run" value={duration(report.work.mean_duration_s)} />
              <Figure name="Tasks merged" value={String(report.merges.tasks)} />
              <Figure
                name="Cost per merged task"
                value={money(report.merges.cost_per_task_usd)}
                note={
                  report.merges.unknown
                    ? `${report.merges.unknown} of unknown cost left out`
                    : undefined
                }
              />
            </div>
            <Section title="By agent">
              <Table<Schemas["Performance"]>
                label="By agent"
                rows={report.agents}
                rowKey={(row) => row.agent ?? ""}
                columns={[
                  { title: "Agent", cell: (row) => row.agent ?? "not said" },
                  { title: "Completed", cell: (row) => row.work.completed, right: true },
                  { title: "Failed", cell: (row) => row.work.failed, right: true, minor: true },
                  { title: "Success", cell: (row) => percent(row.work.success_rate), right: true },
                  {
                    title: "Mean run",
                    cell: (row) => duration(row.work.mean_duration_s),
                    right: true,
                    minor: true,
                  },
                  { title: "Merged", cell: (row) => row.merges.tasks, right: true, minor: true },
                  {
                    title: "Reviews a task",
                    cell: (row) => row.merges.review_rounds?.toFixed(1) ?? "unknown",
                    right: true,
                    minor: true,
                  },
                  {
                    title: "Cost a task",
                    cell: (row) => money(row.merges.cost_per_task_usd),
                    right: true,
                  },
                ]}
              />
            </Section>
          </>
        )}
      </Await>
    </Page>
  );
}
