import assert from "node:assert/strict";
import { test } from "node:test";
import { format } from "@parcel/currency";

test("cents are shown as euros", () => {
  assert.equal(format(605), "6.05 EUR");
});
