import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { issueOf } from "./source";

function link(data: Record<string, unknown>): { artifacts: Schemas["Artifact"][] } {
  const more = { id: "1", run_id: null, key: "k", label: "l", created_at: "" };
  return { artifacts: [{ ...more, type: "link", data }] };
}

test("the issue of a task is a link to a page, and nothing else is", () => {
  const place = { repository: "acme/shop", number: 3 };
  const url = "https://github.com/acme/shop/issues/3";
  expect(issueOf(link({ ...place, url }))).toEqual({ name: "acme/shop#3", url });
  expect(issueOf(link({ ...place, url: "javascript:alert(1)" }))).toBeNull();
  expect(issueOf(link({ place: "line 3" }))).toBeNull();
});
