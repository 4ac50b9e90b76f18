import type { InboxItem } from "@/api/client";

/** A question with the form that answers it; a closed one with what was answered. */
export function PromptPanel({ item }: { item: InboxItem; onAnswered?: () => void }) {
  return <p>{item.summary}</p>;
}
