import { monitorForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Columns3, ListChecks, ListFilter, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { toast } from "sonner";
import { queries } from "@/api/queries";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Input, Select } from "@/kit/Field";
import { Await, Empty } from "@/kit/State";
import { plural } from "@/kit/text";
import { BoardColumn, type Landing } from "./BoardColumn";
import { targetsQuery, useBoard, useMoves } from "./data";
import { arranged, type BoardData, type Card, choices, laneOf } from "./model";
import { Selected, SelectionBar } from "./Selection";

export function Board() {
  const { project } = useSearch({ from: "/frame" });
  const board = useBoard(project);
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Board</h1>
      <Await query={board}>
        {(data) =>
          data.lanes.length === 0 ? (
            <Empty icon={<Columns3 size={28} />} title="Nothing is on the board yet">
              Press <b>c</b> to create the first task, or add a project under Projects.
            </Empty>
          ) : (
            <Lanes board={data} />
          )
        }
      </Await>
    </div>
  );
}

function Lanes({ board }: { board: BoardData }) {
  const search = useSearch({ from: "/frame/board" });
  const { pending, move } = useMoves();
  const lane = laneOf(board, search.pipeline);
  const columns = useMemo(
    () => lane && arranged(board, lane, search, pending),
    [board, lane, search, pending],
  );
  const projects = useQuery(queries.projects()).data?.items;
  const names = useMemo(
    () =>
      search.project || !projects || projects.length < 2
        ? null
        : new Map(projects.map((one) => [one.id, one.name])),
    [projects, search.project],
  );
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const selection = useMemo(
    () =>
      selected && {
        ids: selected,
        toggle: (id: string) =>
          setSelected((before) => {
            const after = new Set(before);
            if (!after.delete(id)) after.add(id);
            return after;
          }),
      },
    [selected],
  );
  const [folds, setFolds] = useState<Record<string, boolean>>({});
  const held = useHeld(move);
  const targets = useQuery({ ...targetsQuery(held?.id ?? ""), enabled: held !== null }).data?.items;
  const latest = useRef(move);
  latest.current = move;
  const onMove = useCallback((card: Card, to: string) => latest.current(card, to), []);
  const strip = useRef<HTMLDivElement>(null);
  useWalk(strip);
  if (!lane || !columns) return null;

  const landing = (column: string): Landing => {
    if (!held || held.pipeline_id !== lane.id || held.status === column) return null;
    const target = targets?.find((one) => one.status === column);
    return target ? { allowed: target.allowed, reason: target.reasons.join(" ") } : null;
  };
  const folded = (id: string, category: string) =>
    folds[id] ?? (category === "final" || (columns.get(id)?.length ?? 0) === 0);
  const startable = [...columns.values()].flat().filter((card) => card.category === "open");
  return (
    <Selected value={selection}>
      <Toolbar
        board={board}
        lane={lane.id}
        onSelect={startable.length > 0 && !selected ? () => setSelected(new Set()) : null}
      />
      <div
        ref={strip}
        className="flex min-h-0 flex-1 snap-x gap-2.5 overflow-x-auto px-3 pb-3 max-sm:snap-mandatory max-sm:px-5"
      >
        {lane.columns.map((column) => (
          <BoardColumn
            key={column.id}
            column={column}
            cards={columns.get(column.id) ?? []}
            projects={names}
            landing={landing(column.id)}
            folded={folded(column.id, column.category)}
            onFold={(now) => setFolds((before) => ({ ...before, [column.id]: now }))}
            onMove={onMove}
          />
        ))}
      </div>
      {selected && (
        <SelectionBar
          cards={startable}
          ids={selected}
          project={search.project}
          onSelect={setSelected}
          onClose={() => setSelected(null)}
        />
      )}
    </Selected>
  );
}

/** The card in the air; on its drop it moves, or stays with the reason. */
function useHeld(move: (card: Card, to: string) => void): Card | null {
  const [held, setHeld] = useState<Card | null>(null);
  const { data: targets } = useQuery({ ...targetsQuery(held?.id ?? ""), enabled: held !== null });
  const latest = useRef({ move, targets });
  latest.current = { move, targets };
  useEffect(
    () =>
      monitorForElements({
        onDragStart: ({ source }) => setHeld(source.data.card as Card),
        onDrop: ({ source, location }) => {
          setHeld(null);
          const card = source.data.card as Card;
          const to = location.current.dropTargets[0]?.data.column as string | undefined;
          if (!to || to === card.status) return;
          const known = latest.current.targets?.items.find((one) => one.status === to);
          if (known && !known.allowed) toast.error(known.reasons.join(" "));
          else latest.current.move(card, to);
        },
      }),
    [],
  );
  return held;
}

/** h j k l walk over the cards; m opens the menu of the one that has the focus. */
function useWalk(strip: { current: HTMLDivElement | null }) {
  const here = () => document.activeElement?.closest<HTMLElement>("[data-task]") ?? null;
  const focus = (card: Element | null | undefined) => {
    card?.querySelector<HTMLElement>("a")?.focus();
    card?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const cardsOf = (column: Element | null | undefined) =>
    [...(column?.querySelectorAll<HTMLElement>("[data-task]") ?? [])].sort(
      (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
    );
  const step = (by: 1 | -1) => {
    const card = here();
    if (!card) return focus(strip.current?.querySelector("[data-task]"));
    const cards = cardsOf(card.closest("section"));
    focus(cards[cards.indexOf(card) + by]);
  };
  const across = (by: 1 | -1) => {
    const columns = [...(strip.current?.querySelectorAll("section") ?? [])];
    const card = here();
    const at = columns.findIndex((column) => card && column.contains(card));
    const top = card?.getBoundingClientRect().top ?? 0;
    for (let i = at + by; i >= 0 && i < columns.length; i += by) {
      const cards = cardsOf(columns[i]);
      if (cards.length)
        return focus(cards.find((one) => one.getBoundingClientRect().top >= top) ?? cards.at(-1));
    }
  };
  useShortcuts("Board", [
    { keys: "j", label: "Next card", run: () => step(1) },
    { keys: "k", label: "Previous card", run: () => step(-1) },
    { keys: "l", label: "Column to the right", run: () => across(1) },
    { keys: "h", label: "Column to the left", run: () => across(-1) },
    {
      keys: "m",
      label: "Move the card to…",
      run: () =>
        here()
          ?.querySelector("button")
          ?.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0 })),
    },
  ]);
}

function Toolbar({
  board,
  lane,
  onSelect,
}: {
  board: BoardData;
  lane: string;
  /** Lets cards be selected; null where there are none to select. */
  onSelect: (() => void) | null;
}) {
  const search = useSearch({ from: "/frame/board" });
  const navigate = useNavigate({ from: "/board" });
  const box = useRef<HTMLInputElement>(null);
  const [shown, setShown] = useState(false);
  const set = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  useShortcuts("Board filter", [
    { keys: "f", label: "Filter the board", run: () => box.current?.focus() },
  ]);
  const waiting = board.cards.filter((card) => card.prompt).length;
  const { tags, agents, priorities } = useMemo(() => choices(board), [board]);
  const narrowed = search.q || search.priority || search.tag || search.agent || search.waiting;
  const pick = (label: string, key: "priority" | "tag" | "agent", values: string[]) =>
    values.length > 0 && (
      <Select
        aria-label={label}
        value={search[key] ?? ""}
        onChange={(event) => set({ [key]: event.target.value || undefined })}
      >
        <option value="">{label}</option>
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </Select>
    );
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 px-3 py-2">
      {board.lanes.length > 1 && (
        <nav
          aria-label="Pipelines"
          className="flex max-w-full overflow-x-auto rounded-md border bg-raised p-0.5"
        >
          {board.lanes.map((one) => (
            <button
              key={one.id}
              type="button"
              aria-pressed={one.id === lane}
              onClick={() => set({ pipeline: one.id })}
              className={cx(
                "rounded px-2.5 py-1 text-xs whitespace-nowrap text-ink-2 max-sm:py-2.5",
                one.id === lane && "bg-hover font-medium text-ink",
              )}
            >
              {one.name}
            </button>
          ))}
        </nav>
      )}
      {waiting > 0 && (
        <Button
          size="small"
          aria-pressed={!!search.waiting}
          className={cx(
            "border-transparent bg-you-soft text-you",
            search.waiting && "ring-2 ring-you",
          )}
          onClick={() => set({ waiting: search.waiting ? undefined : "me" })}
        >
          {plural(waiting, "task waits", "tasks wait")} for you
        </Button>
      )}
      {onSelect && (
        <Button size="small" onClick={onSelect} title="Select tasks to start">
          <ListChecks size={13} /> Select
        </Button>
      )}
      <Button
        size="icon"
        look="quiet"
        aria-label="Filters"
        aria-expanded={shown}
        className="ml-auto sm:hidden"
        onClick={() => setShown(!shown)}
      >
        <ListFilter size={16} />
      </Button>
      <div
        className={cx(
          "flex flex-wrap items-center gap-2 sm:ml-auto max-sm:w-full",
          !shown && "max-sm:hidden",
        )}
      >
        <Input
          ref={box}
          type="search"
          aria-label="Filter"
          placeholder="Filter"
          className="w-44 max-sm:w-full"
          value={search.q ?? ""}
          onChange={(event) => set({ q: event.target.value || undefined })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
        {pick("Priority", "priority", priorities)}
        {pick("Tag", "tag", tags)}
        {pick("Agent", "agent", agents)}
        {narrowed && (
          <Button
            size="small"
            look="quiet"
            onClick={() =>
              set({
                q: undefined,
                priority: undefined,
                tag: undefined,
                agent: undefined,
                waiting: undefined,
              })
            }
          >
            <X size={13} /> Clear
          </Button>
        )}
      </div>
    </div>
  );
}
