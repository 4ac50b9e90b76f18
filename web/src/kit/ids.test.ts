// @vitest-environment node
import { completeId } from "./ids";

test("a beginning is completed only if a single id starts with it", () => {
  expect(completeId(["0190aa", "0190bb"], "0190b")).toBe("0190bb");
  expect(completeId(["0190aa", "0190bb"], "0190")).toBe("0190");
  expect(completeId(["0190aa", "0190bb"], "77")).toBe("77");
  expect(completeId([], "77")).toBe("77");
});
