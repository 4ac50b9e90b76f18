import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { Output } from "./Output";
import { Shape } from "./Shape";
import { through, wordOf } from "./standing";

it("shows rows as a table, and what judges as a chip", () => {
  render(
    <Shape
      name="review"
      value={{ criteria: [{ feature: "F1", verdict: "MET" }], issues: [], status: "PASS" }}
    />,
  );
  const rows = within(screen.getByRole("table", { name: "Criteria" })).getAllByRole("row");
  expect(rows).toHaveLength(2);
  expect(screen.getByText("PASS")).toBeTruthy();
  expect(screen.queryByText("Issues")).toBeNull();
});

it("shows what agents wrote as words, never as a page", () => {
  const { container } = render(
    <Shape name="x" value={{ notes: "<img src=x onerror=alert(1)>\u202eabc" }} />,
  );
  expect(container.querySelector("img")).toBeNull();
  expect(screen.getByText("<img src=x onerror=alert(1)>�abc")).toBeTruthy();
});

it("ends with data that is too deep", () => {
  let deep: unknown = "bottom";
  for (let level = 0; level < 50; level++) deep = { inner: deep, more: ["a b", "c d"] };
  render(<Shape name="x" value={deep} />);
  expect(screen.getByText(/"bottom"/)).toBeTruthy();
});

it("has the data itself one click away", async () => {
  render(<Output name="Tests" value={{ status: "PASS", total: 3 }} />);
  expect(screen.queryByText(/"total": 3/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "JSON of Tests" }));
  expect(screen.getByText(/"total": 3/)).toBeTruthy();
});

it("counts only stages that take part", () => {
  const stages = (["done", "skipped", "live", "waiting"] as const).map((standing) => ({
    ...{ number: 1, role: "r", title: "t", writes: false, reason: null, again: 0 },
    ...{ output: null, runs: [], standing },
  }));
  expect(through(stages)).toEqual({ done: 1, of: 3 });
  expect([wordOf("waiting", false), wordOf("waiting", true)]).toEqual(["waiting", "not reached"]);
});
