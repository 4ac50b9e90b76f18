import { useShortcuts } from "@/app/keys";
import { Select } from "./Field";

const RANGES: [since: string, words: string, key: string][] = [
  ["1d", "Last day", "1"],
  ["7d", "Last 7 days", "7"],
  ["30d", "Last 30 days", "3"],
  ["all", "All time", "0"],
];

export function RangeSelect({
  value,
  onChange,
}: {
  value: string;
  onChange: (since: string) => void;
}) {
  useShortcuts(
    "Time",
    RANGES.map(([since, label, keys]) => ({ keys, label, run: () => onChange(since) })),
  );
  return (
    <Select aria-label="Time" value={value} onChange={(event) => onChange(event.target.value)}>
      {RANGES.map(([since, words]) => (
        <option key={since} value={since}>
          {words}
        </option>
      ))}
    </Select>
  );
}
