import { lazy, memo, Suspense } from "react";
import { cx } from "./cx";
import { heavy } from "./heavy";
import { clean, shortened } from "./text";

const Rendered = lazy(() => import("./MarkdownRendered"));

/** Markdown of agents and people: raw HTML is dropped, links are checked, images are links. */
export const Markdown = memo(function Markdown({
  text,
  className,
}: {
  text: string;
  className?: string;
}) {
  const shown = shortened(clean(text), 200_000);
  return (
    <div className={cx("prose", className)}>
      {heavy(shown.text) ? (
        <pre className="whitespace-pre-wrap">{shown.text}</pre>
      ) : (
        <Suspense fallback={<p className="whitespace-pre-wrap">{shown.text.slice(0, 2000)}</p>}>
          <Rendered text={shown.text} />
        </Suspense>
      )}
      {shown.cut > 0 && <p className="text-ink-3">… {shown.cut} more characters are not shown.</p>}
    </div>
  );
});
