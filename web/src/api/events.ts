/** Live events: one tab holds the stream and hands them to the others, as browsers allow only six
 * connections to a server. Without Web Locks (plain http from a phone) a tab holds its own while it
 * is visible. */
import { BASE, type Event } from "./client";

export type Connection = "connecting" | "live" | "offline";
type Message =
  | { kind: "event"; event: Event }
  | { kind: "state"; state: Connection }
  | { kind: "resync" }
  | { kind: "ask" };

const listeners = new Set<(event: Event) => void>();
const watchers = new Set<() => void>();
const resyncs = new Set<() => void>();
let state: Connection = "connecting";
let last: number | null = null;
let source: EventSource | null = null;
let retry: ReturnType<typeof setTimeout> | undefined;
let wasOffline = false;

const channel =
  typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(`am-events:${BASE}`);

export const connection = {
  subscribe(tell: () => void) {
    watchers.add(tell);
    return () => watchers.delete(tell);
  },
  get: () => state,
};

export function onEvent(tell: (event: Event) => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Called when events may have been missed, so that everything is to be read again. */
export function onResync(tell: () => void): () => void {
  resyncs.add(tell);
  return () => resyncs.delete(tell);
}

let started = false;
/** From the event on that was the newest before anything was read, so that nothing falls between. */
export function startEvents(newest: number) {
  if (started) return;
  started = true;
  last = newest;
  channel?.addEventListener("message", (message: MessageEvent<Message>) => heard(message.data));
  channel?.postMessage({ kind: "ask" } satisfies Message);
  if (channel && navigator.locks) {
    // Held until the tab goes; the next tab in the queue takes over.
    void navigator.locks.request(`am-events:${BASE}`, () => {
      open();
      return new Promise<never>(() => {});
    });
  } else {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") open();
      else close();
    });
    if (document.visibilityState === "visible") open();
  }
  window.addEventListener("online", () => source === null && retry && open());
}

function open() {
  close();
  const after = last === null ? "" : `?after=${last}`;
  const opened = new EventSource(`${BASE}/api/v1/events/stream${after}`);
  source = opened;
  opened.onopen = () => {
    if (wasOffline && last === null) share({ kind: "resync" });
    wasOffline = false;
    share({ kind: "state", state: "live" });
  };
  opened.onmessage = (message) => share({ kind: "event", event: JSON.parse(message.data) });
  opened.onerror = () => {
    wasOffline = true;
    share({ kind: "state", state: "offline" });
    if (opened.readyState !== EventSource.CLOSED) return;
    // Refused: logged out, or the log ends before where we were. Look again, and follow from now.
    last = null;
    close();
    retry = setTimeout(open, 3000);
  };
}

function close() {
  clearTimeout(retry);
  retry = undefined;
  source?.close();
  source = null;
}

/** To this tab and to all others. */
function share(message: Message) {
  channel?.postMessage(message);
  heard(message);
}

function heard(message: Message) {
  switch (message.kind) {
    case "event":
      last = Math.max(last ?? 0, message.event.id);
      for (const tell of listeners) tell(message.event);
      break;
    case "state":
      state = message.state;
      for (const tell of watchers) tell();
      break;
    case "resync":
      for (const tell of resyncs) tell();
      break;
    case "ask":
      if (source) channel?.postMessage({ kind: "state", state } satisfies Message);
  }
}
