import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { api, data, type Schemas } from "@/api/client";
import { Select } from "@/kit/Field";
import { Figure } from "@/kit/Figure";
import { Page, Panel, Section } from "@/kit/Page";
import { RangeSelect } from "@/kit/RangeSelect";
import { Await, Loading } from "@/kit/State";
import { Table } from "@/kit/Table";
import { count, money, plural } from "@/kit/text";

const Bars = lazy(() => import("./Bars"));

const BY = ["task", "agent", "model", "project"] as const;
type By = (typeof BY)[number] | "day";
type Share = Schemas["Share"];

const costQuery = (by: By, since: string, project?: string) => ({
  queryKey: ["cost", by, since, project ?? ""],
  queryFn: () =>
    data(
      api.GET("/api/v1/cost", {
        params: { query: { by, since: since || undefined, project, limit: 100 } },
      }),
    ),
  placeholderData: keepPreviousData,
});

export function Costs() {
  const { project } = useSearch({ from: "/frame" });
  const search = useSearch({ from: "/frame/costs" });
  const navigate = useNavigate({ from: "/costs" });
  const since = search.since ?? "30d";
  const by = BY.find((one) => one === search.by) ?? "task";
  const set = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const span = since === "all" ? "" : since;
  const days = useQuery(costQuery("day", span, project));
  const shares = useQuery(costQuery(by, span, project));
  return (
    <Page
      title="Costs"
      note="What runs cost. A run whose cost is unknown is counted beside the sum, never as nothing."
      actions={<RangeSelect value={since} onChange={(value) => set({ since: value })} />}
    >
      <Await query={days}>
        {(report) => (
          <>
            <div className="grid grid-cols-3 gap-3 max-sm:grid-cols-1">
              <Figure name="Spent" value={money(report.total.cost_usd)} />
              <Figure name="Runs" value={count(report.total.runs)} />
              <Figure
                name="Cost unknown"
                value={plural(report.total.unknown, "run")}
                note={report.total.unknown ? "not in the sum" : undefined}
              />
            </div>
            {report.shares.length > 0 && (
              <Section title="By day">
                <Panel className="h-56 p-3">
                  <Suspense fallback={<Loading rows={3} />}>
                    <Bars shares={[...report.shares].reverse()} />
                  </Suspense>
                </Panel>
              </Section>
            )}
          </>
        )}
      </Await>
      {shares.data && shares.data.budgets.length > 0 && (
        <Section title="Budgets">
          <Table<Schemas["Budget"]>
            label="Budgets"
            rows={shares.data.budgets}
            rowKey={(budget) => `${budget.scope} ${budget.subject}`}
            columns={[
              { title: "Budget", cell: (budget) => `${budget.scope}: ${budget.name}` },
              {
                title: "Spent",
                cell: (budget) => `${budget.unknown ? "at least " : ""}${money(budget.spent_usd)}`,
                right: true,
              },
              { title: "Limit", cell: (budget) => money(budget.limit_usd), right: true },
              {
                title: "Left",
                right: true,
                cell: (budget) => (
                  <span className={budget.left_usd <= 0 ? "font-medium text-bad" : ""}>
                    {money(Math.max(0, budget.left_usd))}
                  </span>
                ),
              },
            ]}
          />
        </Section>
      )}
      <Section
        title={`By ${by}`}
        actions={
          <Select
            aria-label="Group by"
            value={by}
            onChange={(event) => set({ by: event.target.value })}
          >
            {BY.map((one) => (
              <option key={one} value={one}>
                by {one}
              </option>
            ))}
          </Select>
        }
      >
        <Await query={shares}>
          {(report) => (
            <>
              <Table<Share>
                label={`Cost by ${by}`}
                rows={report.shares}
                rowKey={(share) => share.key ?? ""}
                columns={[
                  {
                    title: by[0]?.toUpperCase() + by.slice(1),
                    cell: (share) =>
                      by === "task" && share.key ? (
                        <Link
                          to="/tasks/$taskId"
                          params={{ taskId: share.key }}
                          search={{ tab: "runs" }}
                          className="hover:underline"
                        >
                          {share.name ?? share.key}
                        </Link>
                      ) : (
                        (share.name ?? "not said")
                      ),
                  },
                  { title: "Runs", cell: (share) => share.spent.runs, right: true },
                  {
                    title: "Unknown",
                    cell: (share) => share.spent.unknown || "",
                    right: true,
                    minor: true,
                  },
                  { title: "Cost", cell: (share) => money(share.spent.cost_usd), right: true },
                ]}
              />
              {report.left_out > 0 && (
                <p className="text-xs text-ink-3">{plural(report.left_out, "more")} not shown.</p>
              )}
            </>
          )}
        </Await>
      </Section>
    </Page>
  );
}
