import { useEffect, useRef } from "react";
import { clean } from "@/kit/text";
import type { Writing } from "./useDocument";

/** The document as text. What is broken stays as it was typed; only the graph waits for it. */
export function JsonView({ writing, line }: { writing: Writing; line: number | null }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const text = useRef(writing.text);
  text.current = writing.text;
  useEffect(() => {
    const area = box.current;
    if (!area || line === null) return;
    const before = text.current.split("\n", line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.setSelectionRange(before, before);
    area.scrollTop = (line - 5) * Number.parseFloat(getComputedStyle(area).lineHeight);
  }, [line]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {writing.broken && (
        <p role="alert" className="border-b bg-bad-soft px-3 py-2 text-bad">
          Line {writing.broken.line}, column {writing.broken.column}:{" "}
          {clean(writing.broken.message)} The graph shows what was last whole.
        </p>
      )}
      <textarea
        ref={box}
        aria-label="The pipeline as JSON"
        aria-invalid={writing.broken !== null}
        spellCheck={false}
        wrap="off"
        value={writing.text}
        onChange={(event) => writing.setText(event.target.value)}
        className="min-h-0 flex-1 resize-none bg-raised p-3 font-mono text-xs leading-5 text-ink outline-none focus-visible:outline-none"
      />
    </div>
  );
}
