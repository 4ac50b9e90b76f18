import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { BASE } from "@/api/client";
import { queries } from "@/api/queries";
import { Shell } from "@/app/Shell";
import { Login } from "@/features/login/Login";
import { Empty, Failed } from "@/kit/State";

type Search = Record<string, unknown>;

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

/** Search parameters that are words; others, and empty ones, are dropped. */
function words<K extends string>(...keys: K[]) {
  return (search: Search) => {
    const found: { [P in K]?: string } = {};
    for (const key of keys) if (text(search[key])) found[key] = text(search[key]);
    return found;
  };
}

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  errorComponent: ({ error }) => <Failed error={error} />,
  notFoundComponent: () => (
    <Empty title="There is no such page">
      The address may be wrong, or what it named is gone. <a href={`${BASE}/`}>Go to the board</a>.
    </Empty>
  ),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: words("next"),
  component: Login,
});

/** Everything behind the login, in the frame; the chosen project stays in the address. */
const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  validateSearch: words("project"),
  search: { middlewares: [retainSearchParams(["project"])] },
  loader: ({ context }) => context.client.ensureQueryData(queries.me()),
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => frame,
  path: "/",
  beforeLoad: () => {
    const phone = window.matchMedia("(max-width: 640px)").matches;
    throw redirect({ to: phone ? "/inbox" : "/board", replace: true });
  },
});

const inbox = createRoute({
  getParentRoute: () => frame,
  path: "/inbox",
  validateSearch: words("prompt"),
  component: lazyRouteComponent(() => import("@/features/inbox/Inbox"), "Inbox"),
});

const board = createRoute({
  getParentRoute: () => frame,
  path: "/board",
  validateSearch: words("q", "pipeline", "priority", "tag", "agent", "waiting"),
  component: lazyRouteComponent(() => import("@/features/board/Board"), "Board"),
});

const tasks = createRoute({
  getParentRoute: () => frame,
  path: "/tasks",
  validateSearch: words("q", "status", "sort"),
  component: lazyRouteComponent(() => import("@/features/tasks/Tasks"), "Tasks"),
});

const TABS = ["overview", "transcript", "changes", "timeline", "runs", "stages"] as const;
export type Tab = (typeof TABS)[number];

const task = createRoute({
  getParentRoute: () => frame,
  path: "/tasks/$taskId",
  validateSearch: (search: Search): { tab?: Tab; run?: string; file?: string; since?: string } => ({
    ...words("run", "file", "since")(search),
    ...(TABS.includes(search.tab as Tab) ? { tab: search.tab as Tab } : {}),
  }),
  component: lazyRouteComponent(() => import("@/features/task/TaskPage"), "TaskPage"),
});

const hosts = createRoute({
  getParentRoute: () => frame,
  path: "/hosts",
  component: lazyRouteComponent(() => import("@/features/hosts/Hosts"), "Hosts"),
});

const schedules = createRoute({
  getParentRoute: () => frame,
  path: "/schedules",
  component: lazyRouteComponent(() => import("@/features/schedules/Schedules"), "Schedules"),
});

const runs = createRoute({
  getParentRoute: () => frame,
  path: "/runs",
  component: lazyRouteComponent(() => import("@/features/runs/Runs"), "Runs"),
});

const KINDS = ["task", "pattern", "gotcha", "decision", "question"] as const;
const STATES = ["active", "stale", "contradicted", "retired"] as const;

/** One of these, or nothing. */
const among = <T extends string>(values: readonly T[], given: unknown) =>
  values.find((one) => one === given);

const knowledge = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge",
  validateSearch: (
    search: Search,
  ): {
    q?: string;
    tag?: string;
    file?: string;
    task?: string;
    kind?: (typeof KINDS)[number];
    state?: (typeof STATES)[number];
    by?: "task";
  } => ({
    ...words("q", "tag", "file", "task")(search),
    kind: among(KINDS, search.kind),
    state: among(STATES, search.state),
    by: among(["task"], search.by),
  }),
  component: lazyRouteComponent(() => import("@/features/knowledge/Search"), "Search"),
});

const finding = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge/nodes/$nodeId",
  component: lazyRouteComponent(() => import("@/features/knowledge/NodePage"), "NodePage"),
});

const knowledgeGraph = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge/graph",
  validateSearch: (
    search: Search,
  ): { node?: string; group?: string; by?: "task" | "kind"; hops?: number } => ({
    ...words("node", "group")(search),
    by: among(["task", "kind"], search.by),
    hops: [1, 2, 3].find((one) => String(one) === String(search.hops)),
  }),
  component: lazyRouteComponent(() => import("@/features/knowledge/Graph"), "Graph"),
});

const contextMap = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge/map",
  validateSearch: words("under"),
  component: lazyRouteComponent(() => import("@/features/knowledge/ContextMap"), "ContextMap"),
});

const blockers = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge/blockers",
  validateSearch: words("all"),
  component: lazyRouteComponent(() => import("@/features/knowledge/Blockers"), "Blockers"),
});

const curation = createRoute({
  getParentRoute: () => frame,
  path: "/knowledge/queue",
  component: lazyRouteComponent(() => import("@/features/knowledge/Queue"), "Queue"),
});

const pipelines = createRoute({
  getParentRoute: () => frame,
  path: "/pipelines",
  component: lazyRouteComponent(() => import("@/features/pipelines/Pipelines"), "Pipelines"),
});

const pipeline = createRoute({
  getParentRoute: () => frame,
  path: "/pipelines/$pipelineId",
  validateSearch: (search: Search): { version?: number; task?: string; edit?: boolean } => ({
    ...words("task")(search),
    ...(Number(search.version) > 0 ? { version: Number(search.version) } : {}),
    ...(String(search.edit) === "true" ? { edit: true } : {}),
  }),
  component: lazyRouteComponent(() => import("@/features/pipelines/PipelinePage"), "PipelinePage"),
});

const costs = createRoute({
  getParentRoute: () => frame,
  path: "/costs",
  validateSearch: words("by", "since"),
  component: lazyRouteComponent(() => import("@/features/costs/Costs"), "Costs"),
});

const performance = createRoute({
  getParentRoute: () => frame,
  path: "/performance",
  validateSearch: words("since"),
  component: lazyRouteComponent(() => import("@/features/performance/Performance"), "Performance"),
});

const projects = createRoute({
  getParentRoute: () => frame,
  path: "/projects",
  component: lazyRouteComponent(() => import("@/features/projects/Projects"), "Projects"),
});

const settings = createRoute({
  getParentRoute: () => frame,
  path: "/settings",
  validateSearch: words("section"),
  component: lazyRouteComponent(() => import("@/features/settings/Settings"), "Settings"),
});

const tree = root.addChildren([
  login,
  frame.addChildren([
    home,
    inbox,
    board,
    tasks,
    task,
    runs,
    hosts,
    schedules,
    knowledge,
    finding,
    knowledgeGraph,
    contextMap,
    blockers,
    curation,
    pipelines,
    pipeline,
    costs,
    performance,
    projects,
    settings,
  ]),
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    basepath: BASE || "/",
    // Plain addresses that people can read and write: no JSON in them.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(
        given.map(([key, value]) => [key, String(value)]),
      ).toString();
      return text ? `?${text}` : "";
    },
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
