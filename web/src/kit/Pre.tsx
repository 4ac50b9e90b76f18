import type { ReactNode } from "react";
import { cx } from "./cx";

/** A block of code or output that scrolls, also by keys. */
export function Pre({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      className={cx(
        "overflow-auto rounded-md border bg-sunken p-2.5 font-mono text-xs break-words whitespace-pre-wrap",
        className,
      )}
    >
      {children}
    </pre>
  );
}
