import type { Schemas } from "@/api/client";
import { clean } from "@/kit/text";

const COLOR = /^#[0-9a-f]{6}$/i;

/** A status in the colour that its pipeline gives it. */
export function StatusChip({ status }: { status: Schemas["Status"] }) {
  const color = COLOR.test(status.color ?? "") ? (status.color as string) : "var(--ink-3)";
  return (
    <span
      className="inline-flex h-6 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-xs font-medium"
      style={{
        borderColor: `color-mix(in srgb, ${color} 45%, transparent)`,
        backgroundColor: `color-mix(in srgb, ${color} 10%, transparent)`,
      }}
    >
      <span className="size-2 rounded-full" style={{ backgroundColor: color }} />
      {clean(status.title)}
    </span>
  );
}
