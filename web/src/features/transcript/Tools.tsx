import { ChevronDown, ChevronUp, CircleAlert } from "lucide-react";
import type { ReactNode, Ref } from "react";
import { Button } from "@/kit/Button";
import { Input, Select } from "@/kit/Field";
import { FILTERS, type Filter } from "./messages";

const NAMES: Record<Filter, string> = {
  all: "Everything",
  words: "Words only",
  tools: "Tools only",
  errors: "Errors only",
};

/** What stands above a transcript: filter and search. */
export function Tools({
  lead,
  filter,
  setFilter,
  search,
  setSearch,
  box,
  found,
  partial,
  find,
  nextError,
}: {
  lead: ReactNode;
  filter: Filter;
  setFilter: (filter: Filter) => void;
  search: string;
  setSearch: (text: string) => void;
  box: Ref<HTMLInputElement>;
  found: { at: number; of: number } | null;
  partial: boolean;
  find: (by: 1 | -1) => void;
  nextError: () => void;
}) {
  return (
    <div className="flex shrink-0 items-center gap-1.5 border-b max-sm:flex-wrap px-6 py-1.5 max-sm:px-4">
      {lead}
      <Select
        aria-label="What to show"
        value={filter}
        onChange={(event) => setFilter(event.target.value as Filter)}
        className="max-sm:w-36"
      >
        {FILTERS.map((one) => (
          <option key={one} value={one}>
            {NAMES[one]}
          </option>
        ))}
      </Select>
      <div className="relative min-w-0 flex-1 sm:max-w-72">
        <Input
          ref={box}
          type="search"
          aria-label="Search in the transcript"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") find(event.shiftKey ? -1 : 1);
            if (event.key === "Escape") event.currentTarget.blur();
          }}
          className={found ? "pr-16" : ""}
        />
        {found && (
          <span
            role="status"
            title={partial ? "In the part that is loaded" : undefined}
            className="absolute top-1/2 right-2 -translate-y-1/2 text-xs text-ink-3 tabular-nums"
          >
            {found.at < 0 ? "–" : found.at + 1} of {found.of}
            {partial && "+"}
          </span>
        )}
      </div>
      <Button size="icon" look="quiet" aria-label="Match before (N)" onClick={() => find(-1)}>
        <ChevronUp size={15} />
      </Button>
      <Button size="icon" look="quiet" aria-label="Next match (n)" onClick={() => find(1)}>
        <ChevronDown size={15} />
      </Button>
      <Button look="quiet" onClick={nextError} hint="e" className="max-sm:hidden">
        <CircleAlert size={14} /> Next error
      </Button>
    </div>
  );
}
