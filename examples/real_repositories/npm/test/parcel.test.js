import assert from "node:assert/strict";
import { test } from "node:test";
import { sign, signingKey } from "../src/label.js";
import { postage } from "../src/parcel.js";

test("each started kilogram costs a euro more", () => {
  assert.equal(postage(999), 600);
  assert.equal(postage(1001), 700);
});

test("labels are signed", { skip: !signingKey() && "needs PARCEL_SIGNING_KEY" }, () => {
  assert.match(sign("1 Main Street"), /^[0-9a-f]{64}$/);
});
