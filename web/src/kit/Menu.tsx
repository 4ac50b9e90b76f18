import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./Kbd";

export interface MenuItem {
  label: string;
  /** What stands below in small: why it cannot be chosen, or what it does. */
  note?: string;
  hint?: string;
  disabled?: boolean;
  danger?: boolean;
  onSelect: () => void;
}

export function Menu({
  trigger,
  items,
  label,
  open,
  onOpenChange,
}: {
  trigger: ReactNode;
  items: MenuItem[];
  label: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-[70vh] min-w-48 max-w-80 overflow-y-auto rounded-lg border bg-raised p-1 shadow-xl"
        >
          {items.map((item, index) => (
            <Radix.Item
              // By its words: one that comes later must not turn into another under the pointer.
              key={`${item.label} ${items.slice(0, index).filter((one) => one.label === item.label).length}`}
              disabled={item.disabled}
              onSelect={item.onSelect}
              className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none max-sm:py-3 data-[disabled]:cursor-not-allowed data-[highlighted]:bg-hover ${item.danger ? "text-bad" : ""}`}
            >
              <span className="min-w-0 flex-1">
                <span className={item.disabled ? "text-ink-3" : ""}>{item.label}</span>
                {item.note && <span className="block text-xs text-ink-3">{item.note}</span>}
              </span>
              {item.hint && <Kbd>{item.hint}</Kbd>}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
