import {
  Circle,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleHelp,
  CircleX,
  type LucideIcon,
} from "lucide-react";
import type { Schemas } from "@/api/client";

export type StageSeen = Schemas["StageSeen"];
export type StageRun = Schemas["StageRun"];
export type StageContext = Schemas["StageContext"];
export type Standing = StageSeen["standing"];

export const LOOKS: Record<Standing, { word: string; icon: LucideIcon; ink: string; bar: string }> =
  {
    done: { word: "done", icon: CircleCheck, ink: "text-good", bar: "bg-good" },
    live: { word: "at work", icon: CircleDot, ink: "text-accent-text", bar: "bg-accent" },
    asking: { word: "asks you", icon: CircleHelp, ink: "text-you", bar: "bg-you" },
    failed: { word: "failed", icon: CircleX, ink: "text-bad", bar: "bg-bad" },
    skipped: { word: "left out", icon: CircleDashed, ink: "text-ink-3", bar: "bg-line-strong" },
    waiting: { word: "waiting", icon: Circle, ink: "text-ink-3", bar: "bg-hover" },
  };

/** How a stage stands, in words; a task that has ended leaves nothing waiting. */
export const wordOf = (standing: Standing, ended: boolean) =>
  standing === "waiting" && ended ? "not reached" : LOOKS[standing].word;

/** -1 → −1; 3.5 → 3.5. */
export const numberOf = (stage: number) => String(stage).replace("-", "−");

export const anchor = (stage: number) => `stage-${stage}`;

/** How many of the stages that take part are through. */
export function through(stages: StageSeen[]): { done: number; of: number } {
  const part = stages.filter((one) => one.standing !== "skipped");
  return { done: part.filter((one) => one.standing === "done").length, of: part.length };
}
