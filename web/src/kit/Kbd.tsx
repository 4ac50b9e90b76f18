import type { ReactNode } from "react";
import { cx } from "./cx";

const mac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Kbd({ children, className }: { children: ReactNode; className?: string }) {
  const shown =
    typeof children === "string"
      ? children.replace("Ctrl+", mac ? "⌘" : "Ctrl ").replace("Enter", "⏎")
      : children;
  return (
    <kbd
      aria-hidden
      className={cx(
        "inline-flex min-w-4 items-center justify-center rounded border border-current/25 px-1 font-sans text-[10px] leading-4 opacity-90",
        className,
      )}
    >
      {shown}
    </kbd>
  );
}
