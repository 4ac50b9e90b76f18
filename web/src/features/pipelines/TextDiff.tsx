import { useMemo } from "react";
import { cx } from "@/kit/cx";
import { clean, plural } from "@/kit/text";
import { type DiffLine, diffLines } from "./diffLines";

const LOOKS: Record<DiffLine["kind"], { mark: string; words: string; className: string }> = {
  same: { mark: " ", words: "", className: "" },
  added: { mark: "+", words: "added: ", className: "bg-good-soft" },
  removed: { mark: "-", words: "taken out: ", className: "bg-bad-soft" },
  gap: { mark: " ", words: "", className: "bg-sunken text-ink-3" },
};
const MOST = 2000;

/** What differs between two documents, line by line. */
export function TextDiff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  return (
    <section
      aria-label="Lines that differ"
      className="max-h-[50vh] overflow-auto rounded-lg border py-1 font-mono text-xs leading-5"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
      tabIndex={0}
    >
      {lines.slice(0, MOST).map((line, index) => {
        const look = LOOKS[line.kind];
        return (
          <div key={index} className={cx("flex px-2 whitespace-pre-wrap", look.className)}>
            <span aria-hidden className="w-10 shrink-0 pr-2 text-right text-ink-2 select-none">
              {line.kind !== "gap" && line.number}
            </span>
            <span aria-hidden className="w-4 shrink-0 select-none">
              {look.mark}
            </span>
            <span className="min-w-0 break-words">
              {look.words && <span className="sr-only">{look.words}</span>}
              {line.kind === "gap" ? `${plural(line.number, "line")} the same` : clean(line.text)}
            </span>
          </div>
        );
      })}
      {lines.length > MOST && (
        <p className="px-2 text-ink-2">{lines.length - MOST} more lines are not shown.</p>
      )}
    </section>
  );
}
