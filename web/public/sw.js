/* Shows notices while no page is open. Nothing is kept or answered here. */

self.addEventListener("push", (event) => event.waitUntil(show(event.data?.json())));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function show(notice) {
  if (!notice) return;
  const { title, body, tag, url, instead } = notice;
  // What somebody put away does not come back because it was answered elsewhere.
  if (instead && (await self.registration.getNotifications({ tag })).length === 0) return;
  await self.registration.showNotification(title, {
    body,
    tag,
    data: url,
    icon: "./icon.svg",
    silent: Boolean(instead),
  });
}

async function open(url) {
  const address = new URL(url ?? "./inbox", self.registration.scope);
  // Only to ourselves, whatever a notice says; a proxy may show us under another name.
  const own = new URL(self.registration.scope);
  const at = own.pathname.replace(/\/$/, "");
  const path = address.pathname.startsWith(`${at}/`) ? address.pathname : at + address.pathname;
  const wanted = own.origin + path + address.search;
  const pages = await self.clients.matchAll({ type: "window" });
  const page = pages.find((one) => one.url === wanted) ?? pages[0];
  if (!page) return self.clients.openWindow(wanted);
  await page.focus();
  if (page.url !== wanted) await page.navigate(wanted);
}
