import { useCallback, useEffect, useRef } from "react";
import { Button } from "@/kit/Button";
import { clean } from "@/kit/text";
import type { Writing } from "./useDocument";

/** The document as text. What is broken stays as it was typed; only the graph waits for it. */
export function JsonView({ writing, place }: { writing: Writing; place: string | null }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(writing);
  latest.current = writing;
  const show = useCallback((line: number, column: number) => {
    const area = box.current;
    if (!area) return;
    const above = area.value.split("\n").slice(0, line - 1);
    const at = above.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    area.setSelectionRange(at, at);
    area.scrollTop = (line - 5) * Number.parseFloat(getComputedStyle(area).lineHeight);
  }, []);
  // Only when another place is chosen: the cursor of who types stays where it is.
  useEffect(() => {
    const line = place ? latest.current.lineAt(place) : null;
    if (line !== null) show(line, 1);
  }, [place, show]);
  const { broken } = writing;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {broken && (
        <div
          role="alert"
          className="flex items-start gap-2 border-b bg-bad-soft px-3 py-2 text-bad"
        >
          <p className="min-w-0 flex-1">
            Line {broken.line}, column {broken.column}: {clean(broken.message)} The graph shows what
            was last whole.
          </p>
          <Button
            size="small"
            onClick={() => {
              show(broken.line, broken.column);
              box.current?.focus();
            }}
          >
            Go there
          </Button>
        </div>
      )}
      <textarea
        ref={box}
        aria-label="The pipeline as JSON"
        aria-invalid={broken !== null}
        spellCheck={false}
        wrap="off"
        value={writing.text}
        onChange={(event) => writing.setText(event.target.value)}
        className="min-h-0 flex-1 resize-none bg-raised p-3 font-mono text-xs leading-5 text-ink outline-none focus-visible:outline-none"
      />
    </div>
  );
}
