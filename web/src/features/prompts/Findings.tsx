import { Link } from "@tanstack/react-router";
import { Chip, type Tone } from "@/kit/Chip";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import type { Comment, Severity } from "./payloads";

const SEVERITIES: [Severity, string, Tone][] = [
  ["must_fix", "Must be fixed", "bad"],
  ["should_fix", "Should be fixed", "warn"],
  ["suggestion", "Suggestions", "neutral"],
];

/** The remarks of a review, the worst first, each with the way to its line. */
export function Findings({ taskId, comments }: { taskId: string; comments: Comment[] }) {
  return SEVERITIES.map(([severity, words, tone]) => {
    const found = comments.filter((one) => one.severity === severity);
    if (found.length === 0) return null;
    return (
      <div key={severity} className="space-y-2">
        <h4>
          <Chip tone={tone}>
            {words} · {found.length}
          </Chip>
        </h4>
        <ul className="divide-y rounded-lg border">
          {found.map((one, index) => (
            <li key={one.id ?? index} className="space-y-1 px-3 py-2">
              {one.file && (
                <Link
                  to="/tasks/$taskId"
                  params={{ taskId }}
                  search={{ tab: "changes", file: one.file }}
                  className="font-mono text-xs text-accent-text wrap-anywhere hover:underline"
                >
                  {clean(one.file)}
                  {one.line ? `:${one.line}` : ""}
                </Link>
              )}
              <Markdown text={one.comment} />
            </li>
          ))}
        </ul>
      </div>
    );
  });
}
