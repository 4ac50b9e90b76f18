import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api, data, type Schemas } from "@/api/client";
import { Figure } from "@/kit/Figure";
import { Page, Section } from "@/kit/Page";
import { RangeSelect } from "@/kit/RangeSelect";
import { Await } from "@/kit/State";
import { Table } from "@/kit/Table";
import { duration, money, percent, plural } from "@/kit/text";

type Report = Schemas["PerformanceReport"];

export function Performance() {
  const { project } = useSearch({ from: "/frame" });
  const { since = "30d" } = useSearch({ from: "/frame/performance" });
  const navigate = useNavigate({ from: "/performance" });
  const query = { project, since: since === "all" ? undefined : since };
  const work = useQuery({
    queryKey: ["performance", since, project ?? ""],
    queryFn: () => data(api.GET("/api/v1/performance", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const stats = useQuery({
    queryKey: ["stats", since, project ?? ""],
    queryFn: () => data(api.GET("/api/v1/stats", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Performance"
      note="How long tasks take, who they wait for, and how agents compare."
      actions={
        <RangeSelect
          value={since}
          onChange={(value) =>
            void navigate({ search: (before) => ({ ...before, since: value }), replace: true })
          }
        />
      }
    >
      <Await query={work}>{(report) => <Tasks report={report} />}</Await>
      <Await query={stats}>{(report) => <Agents report={report} />}</Await>
      {work.data && <Rest report={work.data} />}
    </Page>
  );
}

function Tasks({ report }: { report: Report }) {
  const { lead_s, waiting_s, working_s, first_pass, review_rounds } = report;
  return (
    <Section title="Tasks" note={plural(lead_s.number, "task finished", "tasks finished")}>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-5">
        <Figure name="From start to end" value={duration(lead_s.median)} note="median" />
        <Figure name="Waiting for people" value={duration(waiting_s.median)} note="median" />
        <Figure name="Agents working" value={duration(working_s.median)} note="median" />
        <Figure
          name="Approved at once"
          value={percent(first_pass.rate)}
          note={`${first_pass.approved} of ${first_pass.reviewed} reviewed`}
        />
        <Figure
          name="Reviews a task"
          value={review_rounds.mean?.toFixed(1) ?? "unknown"}
          note="mean"
        />
      </div>
    </Section>
  );
}

function Agents({ report }: { report: Schemas["StatsReport"] }) {
  return (
    <Section title="Agents">
      <Table<Schemas["Performance"]>
        label="Agents"
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
            title: "Cost a merged task",
            cell: (row) => money(row.merges.cost_per_task_usd),
            right: true,
          },
        ]}
      />
    </Section>
  );
}

function Rest({ report }: { report: Report }) {
  return (
    <>
      {report.failures.length > 0 && (
        <Section title="Why runs failed">
          <Table<Schemas["Failure"]>
            label="Why runs failed"
            rows={report.failures}
            rowKey={(row) => row.reason}
            columns={[
              { title: "Reason", cell: (row) => row.reason.replaceAll("_", " ") },
              { title: "Runs", cell: (row) => row.runs, right: true },
            ]}
          />
        </Section>
      )}
      {report.days.length > 0 && (
        <Section title="By day">
          <Table<Schemas["DayShare"]>
            label="By day"
            rows={report.days}
            rowKey={(row) => row.day}
            columns={[
              { title: "Day", cell: (row) => row.day },
              { title: "Tasks finished", cell: (row) => row.finished, right: true },
              { title: "Median task", cell: (row) => duration(row.lead_s.median), right: true },
              { title: "Runs completed", cell: (row) => row.completed, right: true, minor: true },
              { title: "Runs failed", cell: (row) => row.failed, right: true, minor: true },
            ]}
          />
        </Section>
      )}
    </>
  );
}
