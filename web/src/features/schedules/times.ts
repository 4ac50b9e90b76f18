/** A time by the clock on the wall of a zone. */
export function inZone(time: string, zone: string): string {
  return new Date(time).toLocaleString(undefined, {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}

export const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
