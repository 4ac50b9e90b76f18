/** Stays at the end of a list while the reader is there, and never takes the reader along. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { VirtuosoHandle } from "react-virtuoso";
import type { Entry } from "./messages";

const INTENT_MS = 1000;

export function useFollow(rows: Entry[], from: boolean, tell: (on: boolean) => void) {
  const list = useRef<VirtuosoHandle>(null);
  const scroller = useRef<HTMLElement | null>(null);
  const touched = useRef(0);
  const [following, setFollowing] = useState(from);
  const set = useCallback(
    (on: boolean) => {
      setFollowing(on);
      tell(on);
    },
    [tell],
  );
  // Rows that come and go also move the list; only what a person did says that they went away.
  const atBottom = useCallback(
    (yes: boolean) => {
      if (yes) set(true);
      else if (performance.now() - touched.current < INTENT_MS) set(false);
    },
    [set],
  );
  const attach = useCallback((element: HTMLElement | Window | null) => {
    scroller.current = element instanceof HTMLElement ? element : null;
    const touch = () => {
      touched.current = performance.now();
    };
    for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
      scroller.current?.addEventListener(kind, touch, { passive: true });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that came are the reason to go
  useLayoutEffect(() => {
    if (following) list.current?.scrollToIndex({ index: "LAST", align: "end" });
  }, [rows, following]);
  // Rows are measured after they are shown, which moves the end once more.
  const grown = useCallback(() => {
    if (following) list.current?.scrollToIndex({ index: "LAST", align: "end" });
  }, [following]);
  useEffect(() => tell(from), [tell, from]);
  return { list, following, set, atBottom, attach, grown, touched };
}
