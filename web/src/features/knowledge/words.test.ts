import { byFile, foldersOf } from "./paths";
import type { Found, KnowledgeNode } from "./queries";
import { byTask, pairsOnce, tagsOf, withoutTag, withTag } from "./results";
import { changesOf, wordsOf } from "./words";

const GOTCHA: KnowledgeNode = {
  id: "n1",
  project_id: "p",
  kind: "gotcha",
  text: "It fails",
  detail: { discovered_in: "here", mitigation: "Wait", odd: 1 },
  severity: "high",
  tags: ["auth", "jwt"],
  state: "active",
  sources: [],
  used: 0,
  helpful: 0,
  created_at: "2026-03-01T12:00:00Z",
  updated_at: "2026-03-01T12:00:00Z",
  confirmed_at: null,
  confirmed_commit: null,
  version: 1,
};

test("an edit sends what differs, and nothing else", () => {
  const base = wordsOf(GOTCHA);
  expect(changesOf(base, base)).toEqual({});
  const words = {
    ...base,
    text: "It fails at night",
    tags: "auth, Night,auth",
    mitigation: "Wait long",
  };
  expect(changesOf(words, base)).toEqual({
    text: "It fails at night",
    tags: ["auth", "night"],
    detail: { mitigation: "Wait long" },
  });
  expect(changesOf({ ...base, severity: "low" }, base)).toEqual({ severity: "low" });
});

test("only a gotcha has a severity to edit, and what was not said is empty", () => {
  const pattern: KnowledgeNode = { ...GOTCHA, kind: "pattern", severity: null, detail: {} };
  expect(wordsOf(pattern)).toEqual({ text: "It fails", tags: "auth, jwt", location: "" });
});

test("tags in the address are a set", () => {
  expect(tagsOf(" Auth,,jwt,auth ")).toEqual(["auth", "jwt"]);
  expect(withTag("auth", "jwt")).toBe("auth,jwt");
  expect(withTag(undefined, "jwt")).toBe("jwt");
  expect(withoutTag("auth,jwt", "auth")).toBe("jwt");
  expect(withoutTag("auth", "auth")).toBeUndefined();
});

test("a finding that two tasks told of stands with both", () => {
  const tasks = ["t1", "t2"].map((id) => ({ id, title: id, status: "done" }));
  const project = { id: "p", name: "shop" } as Found["project"];
  const found: Found[] = [
    { node: GOTCHA, project, tasks },
    { node: { ...GOTCHA, id: "n2" }, project, tasks: tasks.slice(1) },
    { node: { ...GOTCHA, id: "n3" }, project, tasks: [] },
  ];
  const { tellers, others } = byTask(found);
  expect(tellers.map((one) => [one.task.id, one.found.map((each) => each.node.id)])).toEqual([
    ["t1", ["n1"]],
    ["t2", ["n1", "n2"]],
  ]);
  expect(others.map((one) => one.node.id)).toEqual(["n3"]);
});

test("two in doubt about each other are looked at once", () => {
  const [a, b] = [GOTCHA, { ...GOTCHA, id: "n2" }];
  const item = (node: KnowledgeNode, other: KnowledgeNode | null) => ({ node, other, reason: "" });
  expect(pairsOnce([item(a, b), item(b, a), item(a, null)])).toEqual([item(a, b), item(a, null)]);
});

test("lines of the map stand under their file", () => {
  const line = (id: string, path: string) => ({ note: { id, path }, task: null });
  const lines = [line("1", "a/b.py"), line("2", "a/b.py"), line("3", "c.py")];
  const files = byFile(lines as Parameters<typeof byFile>[0]);
  expect(files.map((one) => [one.path, one.notes.length])).toEqual([
    ["a/b.py", 2],
    ["c.py", 1],
  ]);
  expect(foldersOf("src/auth/jwt.ts").map((one) => one.path)).toEqual(["src", "src/auth"]);
  expect(foldersOf("README.md")).toEqual([]);
});
