import assert from "node:assert/strict";
import { test } from "node:test";
import { List } from "../src/list.js";

test("the same item twice is one line", () => {
  const list = new List().add("bread").add("bread", 2);
  assert.deepEqual(list.items, [{ name: "bread", amount: 3 }]);
});
