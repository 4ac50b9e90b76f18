import { type ReactNode, useState } from "react";
import { Button } from "@/kit/Button";
import { count } from "@/kit/text";

const MORE = 100_000;
const MOST = 200_000;

/** A text of any length: its beginning, more of it on demand, and all of it as a file. */
export function LongText({
  text,
  limit,
  name,
  children,
}: {
  text: string;
  limit: number;
  name: string;
  children: (shown: string) => ReactNode;
}) {
  const [shown, setShown] = useState(limit);
  const left = text.length - shown;
  if (left <= 0) return children(text);
  return (
    <>
      {children(text.slice(0, shown))}
      <span className="mt-1 flex flex-wrap items-center gap-2 font-sans text-xs text-ink-3">
        {count(left)} more characters
        {shown < MOST && (
          <Button size="small" onClick={() => setShown(Math.min(MOST, shown + MORE))}>
            Show more
          </Button>
        )}
        <Button size="small" look="quiet" onClick={() => save(text, name)}>
          Download all
        </Button>
      </span>
    </>
  );
}

function save(text: string, name: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
