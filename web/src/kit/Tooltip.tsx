import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";

export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  if (!text) return children;
  return (
    <Radix.Root delayDuration={300}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-bg shadow-lg"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
