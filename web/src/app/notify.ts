/** Notices of the browser when a question is asked while nobody looks: by its push service, which
 * also works while no page is open, or else by the pages themselves. */
import { api, BASE, data } from "@/api/client";
import { onEvent } from "@/api/events";

const KEY = "am:notify";

export const canNotify = () => "Notification" in window && window.isSecureContext;
export const notifies = () =>
  canNotify() && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";

/** When they come: "open" is while a page is open. */
export type Notices = "off" | "open" | "always";

export async function turnOn(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  localStorage.setItem(KEY, "on");
  return true;
}

export async function turnOff(): Promise<void> {
  localStorage.setItem(KEY, "off");
  await (await pushes())?.unsubscribe();
  await api.DELETE("/api/v1/push").catch(() => undefined);
}

/** Has the server reach this browser by its push service, where it has one that answers. */
export async function subscribe(): Promise<Notices> {
  if (!pushable()) return "open";
  try {
    const worker = await navigator.serviceWorker.register(`${BASE}/sw.js`, { scope: `${BASE}/` });
    const { key } = await data(api.GET("/api/v1/push"));
    await navigator.serviceWorker.ready;
    const made = await worker.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: key,
    });
    const { endpoint = "", keys } = made.toJSON();
    const { p256dh = "", auth = "" } = keys ?? {};
    await api.POST("/api/v1/push", { body: { endpoint, keys: { p256dh, auth } } });
    return "always";
  } catch {
    return "open";
  }
}

export async function noticed(): Promise<Notices> {
  if (!notifies()) return "off";
  return (await pushes()) ? "always" : "open";
}

export function startNotices() {
  // A new session is told of the browser again.
  if (notifies()) void subscribe();
  return onEvent(async (event) => {
    if (event.type !== "prompt_created" || !document.hidden || (await noticed()) !== "open") return;
    // Every tab hears of it; one tag makes one notice of theirs.
    const notice = new Notification("A task waits for you", {
      body: event.summary,
      tag: `am-${event.id}`,
      icon: `${BASE}/icon.svg`,
    });
    notice.onclick = () => {
      window.focus();
      window.location.assign(`${BASE}/tasks/${event.task_id}`);
    };
  });
}

const pushable = () => "serviceWorker" in navigator && "PushManager" in window;

async function pushes(): Promise<PushSubscription | null | undefined> {
  if (!pushable()) return undefined;
  const registered = await navigator.serviceWorker.getRegistration(`${BASE}/`);
  return registered?.pushManager.getSubscription();
}
