import { expect, test } from "bun:test";
import { hoursUntil, postage, sign } from "../src/parcel";

test("each started kilogram costs a euro more", () => {
  expect(postage(999)).toBe(600);
  expect(postage(1001)).toBe(700);
});

test("delivery times are read by a dependency", () => {
  expect(hoursUntil("2 days")).toBe(48);
});

test.skipIf(!process.env.PARCEL_SIGNING_KEY)("labels are signed", () => {
  expect(sign("1 Main Street")).toMatch(/^[0-9a-f]{64}$/);
});
