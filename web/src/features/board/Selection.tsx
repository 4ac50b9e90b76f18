import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once } from "@/api/client";
import { Button } from "@/kit/Button";
import { Input } from "@/kit/Field";
import { clean, plural } from "@/kit/text";
import { boardQuery } from "./data";
import { type Card, startsOf } from "./model";

/** The cards that are selected to be started; null while nothing can be selected. */
export const Selected = createContext<{
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
} | null>(null);

/** Covers a card while cards are being selected, so that a click anywhere selects it. */
export function SelectCard({ card }: { card: Card }) {
  const selected = useContext(Selected);
  if (!selected || card.category !== "open") return null;
  return (
    <label className="absolute inset-0 z-10 flex cursor-pointer items-start justify-end rounded-lg p-2.5 has-checked:bg-accent/10 has-checked:ring-2 has-checked:ring-accent">
      <input
        type="checkbox"
        className="size-4 accent-accent max-sm:size-5"
        aria-label={`Select ${clean(card.title)}`}
        checked={selected.ids.has(card.id)}
        onChange={() => selected.toggle(card.id)}
      />
    </label>
  );
}

/** Starts the selected tasks, now or at a time. */
export function SelectionBar({
  cards,
  ids,
  project,
  onSelect,
  onClose,
}: {
  /** All that can be selected. */
  cards: Card[];
  ids: ReadonlySet<string>;
  project: string | undefined;
  onSelect: (ids: Set<string>) => void;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [at, setAt] = useState("");
  const start = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/tasks/start", {
          headers: once(),
          body: { tasks: [...ids], at: at ? new Date(at).toISOString() : null },
        }),
      ),
    onSuccess: ({ items }) => {
      const { summary, refused } = startsOf(items);
      if (summary) toast(summary);
      for (const one of refused) toast.error(one);
      onClose();
    },
    onError: (error: ApiError) => toast.error([error.message, ...error.details].join(" ")),
    onSettled: () => client.invalidateQueries({ queryKey: boardQuery(project).queryKey }),
  });
  return (
    <section
      aria-label="Selected tasks"
      className="flex shrink-0 flex-wrap items-center gap-2 border-t bg-raised px-3 py-2"
    >
      <p role="status" className="mr-auto font-medium tabular-nums">
        {plural(ids.size, "task")} selected
      </p>
      <Button
        size="small"
        look="quiet"
        onClick={() => onSelect(new Set(cards.map((card) => card.id)))}
      >
        Select all {cards.length}
      </Button>
      <Input
        type="datetime-local"
        aria-label="Start at, optional"
        title="Start at, optional"
        value={at}
        onChange={(event) => setAt(event.target.value)}
      />
      <Button onClick={onClose}>Cancel</Button>
      <Button
        look="primary"
        disabled={ids.size === 0 || start.isPending}
        onClick={() => start.mutate()}
      >
        {at ? "Start then" : "Start"}
      </Button>
    </section>
  );
}
