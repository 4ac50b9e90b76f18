import { Panel } from "./Page";

export function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <Panel className="p-3">
      <p className="text-xs text-ink-3">{name}</p>
      <p className="text-xl font-semibold tabular-nums">{value}</p>
      {note && <p className="text-xs text-ink-3">{note}</p>}
    </Panel>
  );
}
