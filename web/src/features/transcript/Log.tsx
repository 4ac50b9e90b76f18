import { ArrowDown } from "lucide-react";
import {
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Virtuoso } from "react-virtuoso";
import type { Run } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Empty, Failed, Loading } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { plural } from "@/kit/text";
import {
  type Entry,
  type Filter,
  filtered,
  isError,
  matches,
  type Position,
  step,
  took,
} from "./messages";
import { NowLine } from "./NowLine";
import { OUTPUT_PX, Row } from "./Row";
import { Tools } from "./Tools";
import { useFollow } from "./useFollow";
import { useTranscript } from "./useTranscript";
import { shifted } from "./window";

const START = 1_000_000;

/** The transcript of one run. */
export function Log({
  run,
  link,
  signAt,
  lead,
}: {
  run: Run;
  /** The line to begin at; else the end is shown. */
  link: Position | null;
  signAt: string | null;
  /** What stands before the tools. */
  lead: ReactNode;
}) {
  const { store, state } = useTranscript(run.id, link);
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search);
  const rows = useMemo(
    () => filtered(state.window.entries, filter),
    [state.window.entries, filter],
  );
  const found = useMemo(() => matches(rows, wanted), [rows, wanted]);
  const first = useFirst(rows);
  const tell = useCallback((on: boolean) => store.follow(on), [store]);
  const { list, following, set, atBottom, attach, toEnd } = useFollow(rows, link === null, tell);
  const [atTop, setAtTop] = useState(false);
  // Also when the reader stays there, or was there before following ended.
  useEffect(() => {
    if (atTop && !following && rows.length > 0) void store.older();
  }, [atTop, following, rows, store]);
  const [open, toggle] = useKeys();
  const [current, setCurrent] = useState<string | null>(null);
  const box = useRef<HTMLInputElement>(null);
  const linked = link
    ? (rows.find((row) => row.turn === link.turn && row.offset === link.offset)?.key ?? null)
    : null;
  const shown = current ?? linked;
  const place = rows.findIndex((row) => row.key === shown);

  const go = (index: number | null) => {
    const row = index === null ? undefined : rows[index];
    if (!row || index === null) return;
    set(false);
    setCurrent(row.key);
    list.current?.scrollToIndex({ index, align: "center" });
  };
  const find = (by: 1 | -1) =>
    search.trim() ? go(step(matches(rows, search), place, by)) : void box.current?.focus();
  const nextError = () => {
    const bad = rows.flatMap((row, index) => (isError(row) ? [index] : []));
    go(step(bad, place, 1));
  };
  const goToEnd = () => {
    setCurrent(null);
    if (link) window.history.replaceState(window.history.state, "", hashless());
    if (state.window.below || link) store.newest();
    set(true);
  };
  useShortcuts("Transcript", [
    { keys: "f", label: "Follow: go to the end", run: goToEnd },
    { keys: "n", label: "Next match", run: () => find(1) },
    { keys: "N", label: "Match before", run: () => find(-1) },
    { keys: "e", label: "Next error", run: nextError },
  ]);

  const live = state.connection !== "ended" && run.ended_at === null;
  const begun = run.started_at !== null;
  const heardAt = state.heardAt ? new Date(state.heardAt).toISOString() : signAt;
  return (
    <div className="flex h-full flex-col">
      <Tools
        lead={lead}
        filter={filter}
        setFilter={setFilter}
        search={search}
        setSearch={setSearch}
        box={box}
        found={wanted.trim() ? { at: found.indexOf(place), of: found.length } : null}
        partial={state.window.above || state.window.below}
        find={find}
        nextError={nextError}
      />
      <div className="relative min-h-0 flex-1">
        {state.error ? (
          <Failed error={state.error} again={() => store.start(link)} />
        ) : state.removedAt ? (
          <Empty title="This transcript was removed">
            Retention removed it <Ago time={state.removedAt} />; the record of the run stays.
          </Empty>
        ) : rows.length > 0 ? (
          <Virtuoso
            key={filter}
            ref={list}
            scrollerRef={attach}
            data={rows}
            firstItemIndex={first}
            {...(linked ? { initialTopMostItemIndex: { index: place, align: "start" } } : {})}
            defaultItemHeight={OUTPUT_PX}
            increaseViewportBy={300}
            atBottomThreshold={30}
            atBottomStateChange={atBottom}
            totalListHeightChanged={toEnd}
            atTopThreshold={300}
            atTopStateChange={setAtTop}
            endReached={() => store.newer()}
            computeItemKey={(_, row) => row.key}
            context={{ above: state.window.above, older: () => void store.older() }}
            components={{ Header: Top, Footer: Space }}
            itemContent={(index, row) => (
              <Row
                entry={row}
                run={run.id}
                seconds={row.kind === "tool" ? took(row, after(rows, index - first)) : null}
                open={open.has(row.key)}
                toggle={toggle}
                wanted={wanted}
                current={row.key === shown}
              />
            )}
          />
        ) : state.connection === "opening" ? (
          <Loading />
        ) : filter !== "all" && state.window.entries.length > 0 ? (
          <Empty title="Nothing of that kind">
            {plural(state.window.entries.length, "entry", "entries")} of other kinds are hidden.
          </Empty>
        ) : (
          <Empty
            title={
              live
                ? begun
                  ? "The agent has not said anything yet"
                  : "The agent waits for its turn"
                : "The agent said nothing"
            }
          />
        )}
        {rows.length > 0 && (!following || state.window.below) && (
          <Button
            onClick={goToEnd}
            hint="f"
            className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-lg"
          >
            {state.unseen > 0 ? `${state.unseen} new` : "To the end"} <ArrowDown size={14} />
          </Button>
        )}
      </div>
      {state.ended?.missing && (
        <p className="shrink-0 border-t bg-warn-soft px-6 py-2 text-xs text-warn max-sm:px-4">
          {state.ended.missing}
        </p>
      )}
      {live && begun && (
        <NowLine entries={state.window.entries} heardAt={heardAt} connection={state.connection} />
      )}
    </div>
  );
}

interface Context {
  above: boolean;
  older: () => void;
}

function Top({ context }: { context: Context }) {
  return (
    <div className="h-9 pt-1 text-center">
      {context.above && (
        <Button size="small" look="quiet" onClick={context.older}>
          What came before
        </Button>
      )}
    </div>
  );
}
const Space = () => <div className="h-10" />;

/** What tells that a tool has ended: the next entry that is no count of tokens. */
function after(rows: Entry[], index: number): Entry | undefined {
  const next = rows[index + 1];
  return next?.kind === "usage" ? rows[index + 2] : next;
}

const hashless = () => window.location.pathname + window.location.search;

function useFirst(rows: Entry[]): number {
  const held = useRef({ rows, first: START });
  if (held.current.rows !== rows)
    held.current = { rows, first: shifted(held.current.first, held.current.rows, rows) };
  return held.current.first;
}

function useKeys(): [Set<string>, (key: string) => void] {
  const [keys, setKeys] = useState(() => new Set<string>());
  const toggle = useCallback(
    (key: string) =>
      setKeys((before) => {
        const after = new Set(before);
        if (!after.delete(key)) after.add(key);
        return after;
      }),
    [],
  );
  return [keys, toggle];
}
