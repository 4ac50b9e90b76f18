/** Stays at the end of a list while the reader is there, and never takes the reader along. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { VirtuosoHandle } from "react-virtuoso";
import type { Entry } from "./messages";

const INTENT_MS = 1000;
const SETTLE_FRAMES = 8;
const TOUCHES = ["touchmove", "pointerdown", "keydown"];

export function useFollow(rows: Entry[], from: boolean, tell: (on: boolean) => void) {
  const list = useRef<VirtuosoHandle>(null);
  const scroller = useRef<HTMLElement | null>(null);
  const detach = useRef(() => {});
  const frame = useRef(0);
  const [following, setFollowing] = useState(from);
  const latest = useRef(from);
  const set = useCallback(
    (on: boolean) => {
      latest.current = on;
      setFollowing(on);
      tell(on);
    },
    [tell],
  );
  const atBottom = useCallback((yes: boolean) => yes && set(true), [set]);
  // Rows that come and go also move the list; only what a person did says that they went away.
  const attach = useCallback(
    (element: HTMLElement | Window | null) => {
      detach.current();
      scroller.current = element instanceof HTMLElement ? element : null;
      if (!(element instanceof HTMLElement)) return;
      let touched = Number.NEGATIVE_INFINITY;
      let top = element.scrollTop;
      const touch = () => {
        touched = performance.now();
      };
      const wheel = (event: WheelEvent) => event.deltaY < 0 && element.scrollTop > 0 && set(false);
      const scroll = () => {
        const went = element.scrollTop < top;
        top = element.scrollTop;
        if (went && performance.now() - touched < INTENT_MS) set(false);
      };
      const quiet = { passive: true };
      element.addEventListener("wheel", wheel, quiet);
      element.addEventListener("scroll", scroll, quiet);
      for (const kind of TOUCHES) element.addEventListener(kind, touch, quiet);
      detach.current = () => {
        element.removeEventListener("wheel", wheel);
        element.removeEventListener("scroll", scroll);
        for (const kind of TOUCHES) element.removeEventListener(kind, touch);
      };
    },
    [set],
  );
  const toEnd = useCallback(() => {
    // Rows are measured after they are shown, which moves the end some more times. Each look makes
    // the browser lay out the page, so there are no more than it takes.
    const settle = (frames: number, height: number) => {
      frame.current = requestAnimationFrame(() => {
        const element = scroller.current;
        if (!element || !latest.current) return;
        const now = element.scrollHeight;
        element.scrollTop = now;
        if (frames > 0 && now !== height) settle(frames - 1, now);
      });
    };
    cancelAnimationFrame(frame.current);
    settle(SETTLE_FRAMES, 0);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that came are the reason to go
  useLayoutEffect(() => {
    if (following) toEnd();
  }, [rows, following, toEnd]);
  useEffect(() => tell(from), [tell, from]);
  return { list, following, set, atBottom, attach, toEnd };
}
