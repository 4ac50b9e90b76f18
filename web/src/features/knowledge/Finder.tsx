import { type Ref, useState } from "react";
import { cx } from "@/kit/cx";
import { Input } from "@/kit/Field";
import { clean } from "@/kit/text";
import { type Drawn, fitting } from "./graphModel";
import { KindChip } from "./look";

/** Finds one of the drawn findings by its words, and goes there. */
export function Finder({
  nodes,
  box,
  onChoose,
}: {
  nodes: Drawn[];
  box: Ref<HTMLInputElement>;
  onChoose: (id: string) => void;
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const fits = fitting(nodes, text);
  const choose = (node: Drawn | undefined) => {
    if (!node) return;
    setText("");
    onChoose(node.id);
  };
  const shown = text.trim() !== "";
  return (
    <div className="relative min-w-52 flex-1 sm:max-w-md">
      <Input
        ref={box}
        type="search"
        role="combobox"
        aria-label="Find in the graph"
        aria-expanded={shown}
        aria-controls="graph-finds"
        aria-activedescendant={shown && fits[at] ? `graph-find-${at}` : undefined}
        placeholder="Find in the graph"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") choose(fits[at]);
          else if (event.key === "ArrowDown") setAt(Math.min(at + 1, fits.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
          else if (event.key === "Escape") setText("");
          else return;
          event.preventDefault();
        }}
      />
      {shown && (
        <div
          id="graph-finds"
          role="listbox"
          aria-label="Found"
          className="absolute inset-x-0 top-full z-20 mt-1 overflow-hidden rounded-lg border bg-raised p-1 shadow-xl"
        >
          {fits.map((node, index) => (
            <div
              key={node.id}
              id={`graph-find-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(node);
              }}
              className={cx(
                "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 hover:bg-hover max-sm:min-h-11",
                index === at && "bg-hover",
              )}
            >
              <KindChip kind={node.kind} />
              <span className="min-w-0 flex-1 truncate">{clean(node.text)}</span>
            </div>
          ))}
          {fits.length === 0 && (
            <p className="px-2 py-1.5 text-ink-3">Nothing that is drawn has these words.</p>
          )}
        </div>
      )}
    </div>
  );
}
