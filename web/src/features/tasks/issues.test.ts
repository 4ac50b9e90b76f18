import { expect, test } from "vitest";
import { asked, NO_ISSUES } from "./issues";

test("issues are asked for by label and state, or by number alone", () => {
  expect(
    asked({ ...NO_ISSUES, repository: " acme/shop ", labels: "bug, good first issue," }),
  ).toEqual({
    repository: "acme/shop",
    issues: [],
    labels: ["bug", "good first issue"],
    state: "open",
  });
  expect(asked({ ...NO_ISSUES, numbers: "#12, 15 7", labels: "bug" })).toEqual({
    repository: null,
    issues: [12, 15, 7],
    labels: [],
    state: null,
  });
  expect(asked({ ...NO_ISSUES, numbers: "12, x" })).toBeNull();
});
