import { cx } from "@/kit/cx";
import { clean, shortened } from "@/kit/text";

/** A small unified diff of words; its two first lines only name the ends. */
export function DiffText({ text }: { text: string }) {
  const lines = shortened(clean(text), 100_000)
    .text.split("\n")
    .filter((line) => !/^(---|\+\+\+) /.test(line));
  if (lines.join("").trim() === "") return <p className="text-ink-3">Nothing changed.</p>;
  return (
    <pre className="overflow-x-auto font-mono text-xs leading-5 break-words whitespace-pre-wrap">
      {lines.slice(0, 1500).map((line, index) => (
        <span
          key={index}
          className={cx(
            "-mx-1 block min-h-5 px-1",
            line.startsWith("+") && "bg-good-soft text-good",
            line.startsWith("-") && "bg-bad-soft text-bad",
            line.startsWith("@@") && "text-ink-3",
          )}
        >
          {line}
        </span>
      ))}
    </pre>
  );
}
