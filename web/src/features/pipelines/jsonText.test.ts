import { lineOf, readJson } from "./jsonText";

const TEXT = `{
  "id": "mine",
  "statuses": [
    {"id": "a", "position": -1.5e3},
    {
      "id": "b \\"\\u00e9",
      "prompt": null
    }
  ],
  "transitions": []
}
`;

it("reads what is whole, as JSON.parse does, with the line of each place", () => {
  const read = readJson(TEXT);
  if (read.broken) throw new Error(read.broken.message);
  expect(read.value).toEqual(JSON.parse(TEXT));
  expect(read.lines.get("statuses.0")).toBe(4);
  expect(read.lines.get("statuses.1.prompt")).toBe(7);
  expect(lineOf(read.lines, "statuses.1.prompt.type")).toBe(7);
  expect(lineOf(read.lines, "transitions.3.to")).toBe(10);
  expect(lineOf(read.lines, "nothing")).toBeNull();
});

it.each([
  ["", 1, 1, "ends here"],
  ['{"a": 1,}', 1, 9, "key"],
  ['{\n  "a" 1\n}', 2, 7, "colon"],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "comma"],
  ["[1, 2", 1, 6, "comma"],
  ['{"a": "x\ny"}', 1, 7, "no end"],
  ['{"a": tru}', 1, 7, "value"],
  ["{} {}", 1, 4, "follow"],
  ['{"a": 1, "a": 2}', 1, 10, "twice"],
  ["[".repeat(100), 1, 66, "deep"],
])("says where %j breaks", (text, line, column, says) => {
  const { broken } = readJson(text);
  expect(broken).toMatchObject({ line, column });
  expect(broken?.message).toContain(says);
});

it("reads a megabyte of text in one string", () => {
  const text = JSON.stringify({ a: "x".repeat(1_000_000) });
  expect(readJson(text).broken).toBeUndefined();
});
