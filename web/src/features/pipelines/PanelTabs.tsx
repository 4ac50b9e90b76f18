import { Tabs } from "radix-ui";
import type { ReactNode } from "react";

export interface PanelTab {
  id: string;
  label: ReactNode;
  content: ReactNode;
}

export function PanelTabs({
  tabs,
  value,
  onChange,
}: {
  tabs: PanelTab[];
  value: string;
  onChange: (id: string) => void;
}) {
  return (
    <Tabs.Root
      value={value}
      onValueChange={onChange}
      className="flex min-h-0 flex-1 flex-col"
      activationMode="manual"
    >
      <Tabs.List aria-label="What is shown" className="flex shrink-0 gap-1 border-b px-2">
        {tabs.map((tab) => (
          <Tabs.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px flex h-9 items-center gap-1.5 border-b-2 border-transparent px-2 text-ink-2 hover:text-ink max-sm:h-11 data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map((tab) => (
        <Tabs.Content
          key={tab.id}
          value={tab.id}
          className="flex min-h-0 flex-1 flex-col data-[state=inactive]:hidden"
        >
          {tab.content}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}

export function TabCount({ number, bad }: { number: number; bad: boolean }) {
  if (number === 0) return null;
  return (
    <span
      className={`rounded-full px-1.5 text-[11px] font-semibold tabular-nums ${bad ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn"}`}
    >
      {number}
    </span>
  );
}
