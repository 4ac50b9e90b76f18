/** Words that were typed are kept in this browser until they were sent. */
import { useCallback, useEffect, useRef, useState } from "react";

const PREFIX = "am:draft:";
const OLD_MS = 30 * 24 * 3600 * 1000;

export function readDraft<T>(key: string): T | undefined {
  try {
    const kept = localStorage.getItem(PREFIX + key);
    return kept === null ? undefined : (JSON.parse(kept).value as T);
  } catch {
    return undefined;
  }
}

export function keepDraft(key: string, value: unknown) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify({ at: Date.now(), value }));
  } catch {
    // A full or forbidden storage must not stop anybody from typing.
  }
}

const shown = new Map<string, Set<() => void>>();

/** Words that come back, into a form that may stand there already. */
export function restoreDraft(key: string, value: unknown) {
  keepDraft(key, value);
  for (const read of shown.get(key) ?? []) read();
}

export function forgetDraft(key: string) {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // As above.
  }
}

/** Like `useState`, but what is set survives a reload, until `forget`. */
export function useDraft<T>(key: string, initial: T) {
  const [value, setValue] = useState<T>(() => readDraft<T>(key) ?? initial);
  const [kept, setKept] = useState(() => readDraft<T>(key) !== undefined);
  const current = useRef(key);
  useEffect(() => {
    if (current.current === key) return;
    current.current = key;
    const found = readDraft<T>(key);
    setValue(found ?? initial);
    setKept(found !== undefined);
  }, [key, initial]);
  useEffect(() => {
    const read = () => {
      const found = readDraft<T>(key);
      if (found !== undefined) setValue(found);
      setKept(found !== undefined);
    };
    const forms = shown.get(key) ?? new Set();
    shown.set(key, forms.add(read));
    return () => {
      forms.delete(read);
      if (forms.size === 0) shown.delete(key);
    };
  }, [key]);
  const set = useCallback(
    (next: T | ((before: T) => T)) =>
      setValue((before) => {
        const after = typeof next === "function" ? (next as (before: T) => T)(before) : next;
        keepDraft(key, after);
        setKept(true);
        return after;
      }),
    [key],
  );
  const forget = useCallback(() => {
    forgetDraft(key);
    setKept(false);
    setValue(initial);
  }, [key, initial]);
  return { value, set, forget, kept };
}

export function forgetOldDrafts(now = Date.now()) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(PREFIX)) continue;
      const { at } = JSON.parse(localStorage.getItem(key) ?? "{}");
      if (!(now - at < OLD_MS)) localStorage.removeItem(key);
    }
  } catch {
    // As above.
  }
}
