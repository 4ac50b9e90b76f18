import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Position } from "./messages";
import { readerOf } from "./reader";
import { TranscriptStore } from "./store";

/** The transcript of a run, read while it is looked at. */
export function useTranscript(run: string, link: Position | null) {
  const store = useMemo(() => new TranscriptStore(readerOf(run)), [run]);
  const place = link && `${link.turn}:${link.offset}`;
  useEffect(() => {
    const [turn, offset] = (place ?? "").split(":").map(Number);
    store.start(place ? { turn: turn as number, offset: offset as number } : null);
    const seen = () => (document.visibilityState === "visible" ? store.show() : store.hide());
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      store.stop();
    };
  }, [store, place]);
  return { store, state: useSyncExternalStore(store.subscribe, store.get) };
}
