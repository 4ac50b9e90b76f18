/** Notices of the browser when a question is asked while nobody looks. */
import { BASE } from "@/api/client";
import { onEvent } from "@/api/events";

const KEY = "am:notify";

export const canNotify = () => "Notification" in window && window.isSecureContext;
export const notifies = () =>
  canNotify() && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";

export async function setNotify(on: boolean): Promise<boolean> {
  if (on && (await Notification.requestPermission()) !== "granted") return false;
  localStorage.setItem(KEY, on ? "on" : "off");
  return on;
}

export function startNotices() {
  return onEvent((event) => {
    if (event.type !== "prompt_created" || !document.hidden || !notifies()) return;
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
