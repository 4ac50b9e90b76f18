import { act, renderHook } from "@testing-library/react";
import { forgetOldDrafts, restoreDraft, useDraft } from "./drafts";

beforeEach(() => localStorage.clear());

test("what was typed is there again after a reload, until it is sent", () => {
  const first = renderHook(() => useDraft("p1", ""));
  act(() => first.result.current.set("half a thought"));
  first.unmount();
  const again = renderHook(() => useDraft("p1", ""));
  expect(again.result.current.value).toBe("half a thought");
  expect(again.result.current.kept).toBe(true);
  act(() => again.result.current.forget());
  expect(renderHook(() => useDraft("p1", "")).result.current.value).toBe("");
});

test("another key has another draft", () => {
  const hook = renderHook(({ key }) => useDraft(key, ""), { initialProps: { key: "a" } });
  act(() => hook.result.current.set("of a"));
  hook.rerender({ key: "b" });
  expect(hook.result.current.value).toBe("");
  hook.rerender({ key: "a" });
  expect(hook.result.current.value).toBe("of a");
});

test("words that come back reach a form that stands there already", () => {
  const form = renderHook(() => useDraft("p2", ""));
  act(() => restoreDraft("p2", "taken back"));
  expect(form.result.current.value).toBe("taken back");
  expect(form.result.current.kept).toBe(true);
});

test("drafts of long ago and broken ones go", () => {
  localStorage.setItem("am:draft:old", JSON.stringify({ at: 0, value: "x" }));
  localStorage.setItem("am:draft:new", JSON.stringify({ at: Date.now(), value: "y" }));
  localStorage.setItem("other", "z");
  forgetOldDrafts();
  expect(Object.keys(localStorage).sort()).toEqual(["am:draft:new", "other"]);
});
