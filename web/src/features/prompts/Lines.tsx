import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import type { Line } from "./said";

/** What somebody said, each part with its name. */
export function Lines({ lines }: { lines: Line[] }) {
  return (
    <dl className="space-y-2">
      {lines.map((line, index) => (
        <div key={index}>
          {line.label && <dt className="text-xs text-ink-3 wrap-anywhere">{clean(line.label)}</dt>}
          <dd>
            <Markdown text={line.text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
