import { expect, test } from "vitest";
import { heavy } from "./heavy";

const HEAVY = {
  quotes: `${">".repeat(2000)} x`,
  lists: `${"- ".repeat(2000)}x`,
  "numbered lists": `${"1. ".repeat(2000)}x`,
  brackets: "[".repeat(100_000),
  strikes: "~a".repeat(20_000),
  columns: `${"|a".repeat(5000)}\n${"|-".repeat(5000)}`,
  "code that never ends": Array.from({ length: 400 }, (_, n) => `${"`".repeat(n + 1)}a`).join(" "),
  "behind a fence in a list": `- a\n  \`\`\`\n${"*a ".repeat(20_000)}`,
  "behind a fence that is closed": `\`\`\`\n\`\`\`\n${"*a ".repeat(20_000)}`,
  "in many blocks": "*a*\n\n".repeat(20_000),
};
const PLAIN = {
  nothing: "",
  words: "Some *words* and `code`, a [link](https://example.org).\n\n- one\n  - two\n    - three",
  "a long table": `${"| a ".repeat(10)}|\n${"|---".repeat(10)}|\n`.repeat(40),
  "much code": `\`\`\`ts\n${"a[b] |= c_d * e;\n".repeat(20_000)}\`\`\``,
  "a long rule": "-".repeat(200),
};

test.each(Object.entries(HEAVY))("%s would take long", (_, text) => {
  expect(heavy(text)).toBe(true);
});

test.each(Object.entries(PLAIN))("%s would not", (_, text) => {
  expect(heavy(text)).toBe(false);
});
