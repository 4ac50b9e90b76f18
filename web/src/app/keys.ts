/** Every shortcut, in one registry: pages add theirs while they are shown, the sheet lists them. */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Shortcut {
  /** As `KeyboardEvent.key`, with `Ctrl+` for Ctrl or ⌘, or two keys in a row: `g i`. */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Also while typing. */
  always?: boolean;
}
interface Scope {
  name: string;
  shortcuts: Shortcut[];
}

let scopes: Scope[] = [];
const watchers = new Set<() => void>();
let first: { key: string; at: number } | null = null;
const SEQUENCE_MS = 1000;

function publish(next: Scope[]) {
  scopes = next;
  for (const tell of watchers) tell();
}

export function useShortcuts(name: string, shortcuts: Shortcut[], active = true) {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const shape = JSON.stringify(shortcuts.map((s) => [s.keys, s.label, s.always]));
  useEffect(() => {
    if (!active) return;
    const scope: Scope = {
      name,
      shortcuts: (JSON.parse(shape) as [string, string, boolean?][]).map(
        ([keys, label, always], index) => ({
          keys,
          label,
          always,
          run: (event) => latest.current[index]?.run(event),
        }),
      ),
    };
    publish([...scopes, scope]);
    return () => publish(scopes.filter((other) => other !== scope));
  }, [name, shape, active]);
}

export function useAllShortcuts(): Scope[] {
  return useSyncExternalStore(
    (tell) => {
      watchers.add(tell);
      return () => watchers.delete(tell);
    },
    () => scopes,
  );
}

function typing(target: EventTarget | null) {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input, textarea, select, [contenteditable=true]");
}

function named(event: KeyboardEvent) {
  const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  return held + (event.key.length === 1 && held ? event.key.toLowerCase() : event.key);
}

export function handleKey(event: KeyboardEvent, now = Date.now()) {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const pressed = named(event);
  const inText = typing(event.target);
  const inDialog = !!(event.target as HTMLElement | null)?.closest?.("[role=dialog],[role=menu]");
  const sequence = first && now - first.at < SEQUENCE_MS ? `${first.key} ${pressed}` : null;
  first = null;
  // The newest scope wins: a page over the frame, a form over its page.
  for (const wanted of sequence ? [sequence, pressed] : [pressed]) {
    for (const scope of [...scopes].reverse()) {
      const hit = scope.shortcuts.find((s) => s.keys === wanted);
      if (!hit || (!hit.always && (inText || inDialog))) continue;
      event.preventDefault();
      hit.run(event);
      return;
    }
  }
  if (inText) return;
  if (scopes.some((s) => s.shortcuts.some((one) => one.keys.startsWith(`${pressed} `))))
    first = { key: pressed, at: now };
}

export function startKeys() {
  window.addEventListener("keydown", handleKey);
  return () => window.removeEventListener("keydown", handleKey);
}
