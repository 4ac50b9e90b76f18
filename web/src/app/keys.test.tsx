import { renderHook } from "@testing-library/react";
import { handleKey, useShortcuts } from "./keys";

function press(key: string, target: Element = document.body, more: KeyboardEventInit = {}, at = 0) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  Object.defineProperty(event, "target", { value: target });
  handleKey(event, at);
  return event;
}

test("keys do nothing while somebody types, save those that always work", () => {
  const done: string[] = [];
  renderHook(() =>
    useShortcuts("x", [
      { keys: "a", label: "", run: () => done.push("a") },
      { keys: "Ctrl+Enter", label: "", always: true, run: () => done.push("send") },
    ]),
  );
  const field = document.body.appendChild(document.createElement("textarea"));
  press("a", field);
  expect(done).toEqual([]);
  press("Enter", field, { ctrlKey: true });
  press("a");
  expect(done).toEqual(["send", "a"]);
});

test("two keys in a row are one shortcut, if they come soon", () => {
  const done: string[] = [];
  renderHook(() => useShortcuts("x", [{ keys: "g i", label: "", run: () => done.push("inbox") }]));
  press("g", document.body, {}, 0);
  press("i", document.body, {}, 5000);
  expect(done).toEqual([]);
  press("g", document.body, {}, 6000);
  press("i", document.body, {}, 6500);
  expect(done).toEqual(["inbox"]);
});

test("the page that came last has the key", () => {
  const done: string[] = [];
  renderHook(() =>
    useShortcuts("frame", [{ keys: "c", label: "", run: () => done.push("frame") }]),
  );
  const page = renderHook(() =>
    useShortcuts("page", [{ keys: "c", label: "", run: () => done.push("page") }]),
  );
  press("c");
  page.unmount();
  press("c");
  expect(done).toEqual(["page", "frame"]);
});
