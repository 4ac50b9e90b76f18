import {
  CalendarClock,
  ChartColumn,
  CircleDollarSign,
  Columns3,
  FolderGit2,
  Inbox,
  Lightbulb,
  List,
  type LucideIcon,
  Play,
  Server,
  Settings,
  Workflow,
} from "lucide-react";

interface Place {
  to:
    | "/inbox"
    | "/board"
    | "/tasks"
    | "/schedules"
    | "/runs"
    | "/knowledge"
    | "/pipelines"
    | "/costs"
    | "/performance"
    | "/projects"
    | "/hosts"
    | "/settings";
  label: string;
  icon: LucideIcon;
  key: string;
}
export const PLACES: Place[] = [
  { to: "/inbox", label: "Inbox", icon: Inbox, key: "i" },
  { to: "/board", label: "Board", icon: Columns3, key: "b" },
  { to: "/tasks", label: "Tasks", icon: List, key: "t" },
  { to: "/schedules", label: "Schedules", icon: CalendarClock, key: "d" },
  { to: "/runs", label: "Runs", icon: Play, key: "r" },
  { to: "/knowledge", label: "Knowledge", icon: Lightbulb, key: "k" },
  { to: "/pipelines", label: "Pipelines", icon: Workflow, key: "p" },
  { to: "/costs", label: "Costs", icon: CircleDollarSign, key: "c" },
  { to: "/performance", label: "Performance", icon: ChartColumn, key: "f" },
  { to: "/projects", label: "Projects", icon: FolderGit2, key: "j" },
  { to: "/hosts", label: "Hosts", icon: Server, key: "h" },
  { to: "/settings", label: "Settings", icon: Settings, key: "s" },
];
/** How many of them the bar of a phone shows; the rest is behind *More*. */
export const ON_PHONE = 4;

export type Overlay = "palette" | "task" | "keys" | "more" | null;
