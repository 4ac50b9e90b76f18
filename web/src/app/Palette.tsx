import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Moon, Plus, Sun } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { api, data } from "@/api/client";
import { Chip } from "@/kit/Chip";
import { type Overlay, PLACES } from "./places";
import { setTheme, useDark } from "./theme";

const ITEM =
  "flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 data-[selected=true]:bg-hover";

export function Palette({
  open,
  onClose,
  show,
}: {
  open: boolean;
  onClose: () => void;
  show: (overlay: Overlay) => void;
}) {
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const navigate = useNavigate();
  const dark = useDark();
  const found = useQuery({
    queryKey: ["search", wanted],
    queryFn: () => data(api.GET("/api/v1/search", { params: { query: { q: wanted, limit: 20 } } })),
    enabled: open && wanted.length > 0,
    placeholderData: (before) => before,
  });
  const go = (act: () => void) => () => {
    onClose();
    setText("");
    act();
  };
  const words = text.toLowerCase();
  const fits = (label: string) => label.toLowerCase().includes(words);
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border bg-raised shadow-2xl"
        >
          <Radix.Title className="sr-only">Find anything</Radix.Title>
          <Command shouldFilter={false} label="Find anything">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Find a task, a page, a run…"
              className="h-12 w-full border-b bg-transparent px-4 text-[15px] outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-ink-3">
                Nothing is called that.
              </Command.Empty>
              {found.data?.items.map((hit) => (
                <Command.Item
                  key={`${hit.kind}:${hit.id}`}
                  value={`${hit.kind}:${hit.id}`}
                  className={ITEM}
                  onSelect={go(() => void navigate({ href: target(hit) }))}
                >
                  <Chip>{hit.kind}</Chip>
                  <span className="min-w-0 flex-1 truncate">{hit.title}</span>
                  <span className="truncate text-xs text-ink-3">{hit.detail}</span>
                </Command.Item>
              ))}
              {PLACES.filter((place) => fits(`go to ${place.label}`)).map((place) => (
                <Command.Item
                  key={place.to}
                  value={place.to}
                  className={ITEM}
                  onSelect={go(() => void navigate({ to: place.to }))}
                >
                  <place.icon size={16} className="text-ink-3" /> Go to {place.label}
                </Command.Item>
              ))}
              {fits("new task") && (
                <Command.Item value="new" className={ITEM} onSelect={go(() => show("task"))}>
                  <Plus size={16} className="text-ink-3" /> New task
                </Command.Item>
              )}
              {fits("light dark theme") && (
                <Command.Item
                  value="theme"
                  className={ITEM}
                  onSelect={go(() => setTheme(dark ? "light" : "dark"))}
                >
                  {dark ? <Sun size={16} /> : <Moon size={16} />} Use the {dark ? "light" : "dark"}{" "}
                  theme
                </Command.Item>
              )}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function target(hit: { kind: string; id: string; task_id: string | null }): string {
  switch (hit.kind) {
    case "task":
      return `/tasks/${hit.id}`;
    case "prompt":
      return `/inbox?prompt=${encodeURIComponent(hit.id)}`;
    case "run":
      return `/tasks/${hit.task_id}?tab=transcript&run=${encodeURIComponent(hit.id)}`;
    case "pipeline":
      return `/pipelines/${encodeURIComponent(hit.id)}`;
    default:
      return "/projects";
  }
}
