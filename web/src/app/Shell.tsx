import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { BookOpen, Keyboard, Menu as MenuIcon, Plus, Search } from "lucide-react";
import { Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { BASE } from "@/api/client";
import { connection, startEvents } from "@/api/events";
import { queries } from "@/api/queries";
import { NewTask } from "@/features/tasks/NewTask";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Dialog } from "@/kit/Dialog";
import { Select } from "@/kit/Field";
import { Kbd } from "@/kit/Kbd";
import { Loading } from "@/kit/State";
import { money, plural } from "@/kit/text";
import { useShortcuts } from "./keys";
import { Palette } from "./Palette";
import { ON_PHONE, type Overlay, PLACES } from "./places";
import { ShortcutSheet } from "./ShortcutSheet";

export function Shell() {
  const navigate = useNavigate();
  const [overlay, setOverlay] = useState<Overlay>(null);
  const close = () => setOverlay(null);
  const newest = useQuery(queries.me()).data?.last_event;
  useEffect(() => {
    if (newest !== undefined) startEvents(newest);
  }, [newest]);
  useShortcuts("Everywhere", [
    { keys: "Ctrl+k", label: "Find anything", always: true, run: () => setOverlay("palette") },
    { keys: "c", label: "New task", run: () => setOverlay("task") },
    { keys: "/", label: "Search", run: () => setOverlay("palette") },
    { keys: "?", label: "Show all keys", run: () => setOverlay("keys") },
    ...PLACES.map((place) => ({
      keys: `g ${place.key}`,
      label: `Go to ${place.label}`,
      run: () => void navigate({ to: place.to }),
    })),
  ]);
  return (
    <div className="flex h-full flex-col sm:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-2"
      >
        Skip to the page
      </a>
      <Rail show={setOverlay} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Header show={setOverlay} />
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <BottomBar show={setOverlay} />
      <Palette open={overlay === "palette"} onClose={close} show={setOverlay} />
      <NewTask open={overlay === "task"} onClose={close} />
      <ShortcutSheet open={overlay === "keys"} onClose={close} />
      <Dialog open={overlay === "more"} onClose={close} title="More">
        <nav aria-label="More pages" className="grid gap-1">
          {PLACES.slice(ON_PHONE).map((place) => (
            <Link
              key={place.to}
              to={place.to}
              onClick={close}
              className="flex h-12 items-center gap-3 rounded-md px-3 hover:bg-hover"
            >
              <place.icon size={18} /> {place.label}
            </Link>
          ))}
          <a
            href={`${BASE}/docs/`}
            className="flex h-12 items-center gap-3 rounded-md px-3 hover:bg-hover"
          >
            <BookOpen size={18} /> Docs
          </a>
        </nav>
      </Dialog>
    </div>
  );
}

function Rail({ show }: { show: (overlay: Overlay) => void }) {
  const waiting = useQuery(queries.waiting()).data ?? 0;
  return (
    <nav
      aria-label="Pages"
      className="hidden w-52 shrink-0 flex-col gap-0.5 border-r bg-sunken p-2 sm:flex max-lg:w-14"
    >
      <div className="mb-2 flex h-9 items-center gap-2 px-2 font-semibold">
        <img src="icon.svg" alt="" className="size-6" />
        <span className="truncate text-[13px] max-lg:sr-only">Agents Manager</span>
      </div>
      {PLACES.map((place) => (
        <Link
          key={place.to}
          to={place.to}
          title={`${place.label} (g ${place.key})`}
          className="flex h-8 items-center gap-2.5 rounded-md px-2 text-ink-2 hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink"
        >
          <place.icon size={16} className="shrink-0" />
          <span className="flex-1 truncate max-lg:sr-only">{place.label}</span>
          {place.to === "/inbox" && waiting > 0 && (
            <span className="rounded-full bg-you-soft px-1.5 text-[11px] font-semibold text-you tabular-nums">
              {waiting}
              <span className="sr-only"> waiting for you</span>
            </span>
          )}
        </Link>
      ))}
      <a
        href={`${BASE}/docs/`}
        title="Documentation"
        className="mt-auto flex h-8 items-center gap-2.5 rounded-md px-2 text-ink-3 hover:bg-hover"
      >
        <BookOpen size={16} className="shrink-0" />
        <span className="flex-1 truncate max-lg:sr-only">Docs</span>
      </a>
      <button
        type="button"
        onClick={() => show("keys")}
        className="flex h-8 items-center gap-2.5 rounded-md px-2 text-ink-3 hover:bg-hover"
      >
        <Keyboard size={16} className="shrink-0" />
        <span className="flex-1 text-left max-lg:sr-only">Keys</span>
        <Kbd className="max-lg:hidden">?</Kbd>
      </button>
    </nav>
  );
}

function Header({ show }: { show: (overlay: Overlay) => void }) {
  const { project } = useSearch({ from: "/frame" });
  const navigate = useNavigate();
  const projects = useQuery(queries.projects()).data?.items ?? [];
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-raised px-3">
      <Select
        aria-label="Project"
        className="max-w-44 border-transparent bg-transparent font-medium hover:bg-hover max-sm:max-w-44"
        value={project ?? ""}
        onChange={(event) =>
          void navigate({
            to: ".",
            search: (before) => ({ ...before, project: event.target.value || undefined }),
          })
        }
      >
        <option value="">All projects</option>
        {projects.map((one) => (
          <option key={one.id} value={one.name}>
            {one.name}
          </option>
        ))}
      </Select>
      <div className="flex-1" />
      <Running />
      <Spend />
      <Live />
      <Button size="icon" look="quiet" aria-label="Search (Ctrl K)" onClick={() => show("palette")}>
        <Search size={16} />
      </Button>
      <Button
        size="icon"
        look="primary"
        aria-label="New task"
        onClick={() => show("task")}
        className="sm:hidden"
      >
        <Plus size={18} />
      </Button>
      <Button look="primary" onClick={() => show("task")} className="max-sm:hidden" hint="c">
        <Plus size={15} /> New task
      </Button>
    </header>
  );
}

function Running() {
  const runs = useQuery(queries.liveRuns()).data?.items;
  if (!runs) return null;
  const working = runs.filter((run) => run.status === "running").length;
  return (
    <Link
      to="/runs"
      className="flex items-center gap-1.5 rounded-md px-2 py-1 text-xs text-ink-2 hover:bg-hover"
    >
      <span
        className={cx("size-2 rounded-full", working ? "pulse-dot bg-good" : "bg-line-strong")}
      />
      <span className="max-sm:hidden">
        {working ? plural(working, "agent") : "No agent"} running
      </span>
      <span className="sm:hidden">{working}</span>
    </Link>
  );
}

function Spend() {
  const { project } = useSearch({ from: "/frame" });
  const total = useQuery(queries.today(project)).data?.total;
  if (!total || total.runs === 0) return null;
  return (
    <Link
      to="/costs"
      search={{ since: "1d" }}
      title={total.unknown ? `The cost of ${plural(total.unknown, "run")} is unknown` : undefined}
      className="rounded-md px-2 py-1 text-xs text-ink-2 tabular-nums hover:bg-hover max-sm:hidden"
    >
      {total.cost_usd === null
        ? "Cost of the last day unknown"
        : `${money(total.cost_usd)}${total.unknown > 0 ? "+" : ""} in a day`}
    </Link>
  );
}

function Live() {
  const state = useSyncExternalStore(connection.subscribe, connection.get);
  const [label, tone] = {
    live: ["Live", "bg-good"],
    connecting: ["Connecting", "bg-warn"],
    offline: ["Offline", "bg-bad"],
  }[state] as [string, string];
  return (
    <span
      role="status"
      title={state === "offline" ? "The server does not answer; trying again." : `Events: ${label}`}
      className={cx(
        "flex items-center gap-1.5 rounded-md px-2 text-xs text-ink-2",
        state === "offline" && "bg-bad-soft font-medium text-bad",
      )}
    >
      <span className={cx("size-2 rounded-full", tone)} />
      <span className={state === "offline" ? "" : "max-sm:sr-only"}>{label}</span>
    </span>
  );
}

function BottomBar({ show }: { show: (overlay: Overlay) => void }) {
  const waiting = useQuery(queries.waiting()).data ?? 0;
  const part =
    "flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-[11px] text-ink-2";
  return (
    <nav
      aria-label="Main pages"
      className="flex shrink-0 border-t bg-raised pb-[env(safe-area-inset-bottom)] sm:hidden"
    >
      {PLACES.slice(0, ON_PHONE).map((place) => (
        <Link
          key={place.to}
          to={place.to}
          className={cx(part, "relative data-[status=active]:text-accent-text")}
        >
          <place.icon size={19} />
          {place.label}
          {place.to === "/inbox" && waiting > 0 && (
            <span className="absolute top-1.5 left-[calc(50%+8px)] rounded-full bg-you px-1 text-[10px] font-semibold text-bg">
              {waiting}
            </span>
          )}
        </Link>
      ))}
      <button type="button" className={part} onClick={() => show("more")}>
        <MenuIcon size={19} />
        More
      </button>
    </nav>
  );
}
