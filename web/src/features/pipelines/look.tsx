import { Bot, CircleCheck, CircleDashed, Eye, type LucideIcon, MessageCircle } from "lucide-react";
import type { Tone } from "@/kit/Chip";
import { cx } from "@/kit/cx";
import type { Category } from "./shape";

/** How a status of each category looks. Those that wait for a person share the colour of you. */
export const LOOK: Record<
  Category,
  { words: string; icon: LucideIcon; tone: Tone; box: string; ink: string }
> = {
  open: {
    words: "not begun",
    icon: CircleDashed,
    tone: "neutral",
    box: "border-line-strong",
    ink: "text-ink-3",
  },
  active: {
    words: "an agent works",
    icon: Bot,
    tone: "accent",
    box: "border-accent/60",
    ink: "text-accent-text",
  },
  waiting: {
    words: "waits for a person",
    icon: MessageCircle,
    tone: "you",
    box: "border-you/60",
    ink: "text-you",
  },
  review: {
    words: "waits for a review",
    icon: Eye,
    tone: "you",
    box: "border-you/60",
    ink: "text-you",
  },
  final: {
    words: "finished",
    icon: CircleCheck,
    tone: "good",
    box: "border-good/60",
    ink: "text-good",
  },
};

export function CategoryIcon({ category, size = 15 }: { category: Category; size?: number }) {
  const { icon: Icon, ink } = LOOK[category];
  return <Icon aria-hidden size={size} className={cx("shrink-0", ink)} />;
}
