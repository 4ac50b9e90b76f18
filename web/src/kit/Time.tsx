import { useSyncExternalStore } from "react";
import { duration } from "./text";

// One clock for the page, so that a thousand ages are one timer.
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(tell: () => void) {
  watchers.add(tell);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of watchers) each();
  }, 1000);
  return () => {
    watchers.delete(tell);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Seconds since a time, renewed as its words change. */
export function useAge(time: string | null): number | null {
  return useSyncExternalStore(watch, () => {
    if (!time) return null;
    const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
    return seconds < 120 ? seconds : seconds - (seconds % 60);
  });
}

export function Ago({ time, suffix = " ago" }: { time: string; suffix?: string }) {
  const age = useAge(time);
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()} className="tabular-nums">
      {age !== null && age < 5 ? "now" : `${duration(age)}${suffix}`}
    </time>
  );
}
