import assert from "node:assert/strict";
import { test } from "node:test";
import { line, sign, signingKey } from "../src/invoice.js";

test("a line shows the postage in euros", () => {
  assert.equal(line(1001), "Parcel, 1001 g: 7.00 EUR");
});

test("lines are signed", { skip: !signingKey() && "needs PARCEL_SIGNING_KEY" }, () => {
  assert.match(sign(line(1)), /^[0-9a-f]{64}$/);
});
