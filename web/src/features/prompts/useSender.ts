import {
  type InfiniteData,
  type QueryClient,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, type InboxItem, once, type Schemas } from "@/api/client";
import { forgetDraft, readDraft, restoreDraft } from "@/app/drafts";
import { consented } from "@/features/task/unmerged";
import { clean } from "@/kit/text";
import type { Answer } from "./answers";

export const UNDO_S = 5;
/** Held a little longer than the button is shown, for the way to the server. */
const HELD_S = UNDO_S + 1;

export interface Sender {
  send: (answer: Answer) => void;
  accept: () => void;
  /** Whether the answer is kept as a decision, too. */
  keep: boolean;
  setKeep: (keep: boolean) => void;
  busy: boolean;
  error: ApiError | null;
}

export const draftKey = (promptId: string) => `prompt:${promptId}`;

type Answered = Schemas["Answered"];

export async function acceptPrompt(id: string, key = once(), keep = false): Promise<Answered> {
  return data(
    api.POST("/api/v1/prompts/{prompt_id}/accept", {
      params: { path: { prompt_id: id } },
      headers: key,
      body: { delay_s: HELD_S, keep },
    }),
  );
}

async function answerPrompt(id: string, answer: Answer, key: ReturnType<typeof once>) {
  return consented((consent) =>
    data(
      api.POST("/api/v1/prompts/{prompt_id}/answer", {
        params: { path: { prompt_id: id } },
        headers: consent.leave_unmerged ? once() : key,
        body: { ...answer, ...consent },
      }),
    ),
  );
}

/** Sends the answer to a question once, however often the button is pressed. */
export function useSender(
  item: InboxItem,
  onAnswered?: () => void,
  onUndone?: (promptId: string) => void,
): Sender {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { id, type } = item.prompt;
  // The same words have the same key, so that sending them again after a lost answer is harmless.
  // Of this question alone: the next one begins without it.
  const [kept, setKept] = useState("");
  const keep = kept === id;
  const last = useRef<{ words: string; key: ReturnType<typeof once> } | null>(null);
  const mutation = useMutation<Answered, ApiError, Answer | null>({
    mutationFn: (answer) => {
      const words = JSON.stringify([answer, keep]);
      if (last.current?.words !== words) last.current = { words, key: once() };
      const { key } = last.current;
      if (answer === null) return acceptPrompt(id, key, keep);
      const held = type === "permission" ? {} : { delay_s: HELD_S };
      return answerPrompt(id, { ...answer, ...held, ...(keep ? { keep } : {}) }, key);
    },
    onSuccess: () => {
      const draft = readDraft(draftKey(id));
      forgetDraft(draftKey(id));
      gone(client, [id]);
      countAnswers(1);
      if (type === "permission") toast.success("Answered");
      else
        offerUndo(client, [id], "Answered", (again) => {
          if (draft !== undefined && again[0]) restoreDraft(draftKey(again[0]), draft);
          if (again[0]) onUndone?.(again[0]);
        });
      onAnswered?.();
    },
    onError: (error) => {
      if (!isTooLate(error)) return;
      toast.error(clean(error.message), {
        description: "What you wrote is kept.",
        action: {
          label: "Show",
          onClick: () => void navigate({ to: "/inbox", search: { prompt: id } }),
        },
      });
      refresh(client);
    },
  });
  return {
    send: (answer) => !mutation.isPending && mutation.mutate(answer),
    accept: () => !mutation.isPending && item.acceptable && mutation.mutate(null),
    keep,
    setKeep: (now) => setKept(now ? id : ""),
    busy: mutation.isPending,
    error: mutation.error,
  };
}

/** Somebody else was faster, or the question is no longer open. */
export const isTooLate = (error: ApiError) =>
  error.code === "PromptAlreadyAnswered" || error.code === "PromptClosed";

/** Out of the list at once; the server's own list follows. */
export function gone(client: QueryClient, ids: string[]) {
  const left = (page: Schemas["Inbox"]) => ({
    ...page,
    items: page.items.filter((one) => !ids.includes(one.prompt.id)),
  });
  client.setQueriesData<InfiniteData<Schemas["Inbox"]>>(
    { queryKey: ["inbox", "pages"] },
    (inbox) => inbox && { ...inbox, pages: inbox.pages.map(left) },
  );
  refresh(client);
}

function refresh(client: QueryClient) {
  for (const key of ["inbox", "prompt", "task"]) void client.invalidateQueries({ queryKey: [key] });
}

let latest: { undo: () => void; until: number } | null = null;

/** Takes the last answer back, as its button does. */
export function undoLatest() {
  if (latest && Date.now() < latest.until) latest.undo();
  else toast("There is nothing to take back.");
}

export function offerUndo(
  client: QueryClient,
  ids: string[],
  words: string,
  onUndone: (promptIds: string[]) => void,
) {
  const take = async () => {
    latest = null;
    toast.dismiss(shown);
    const results = await Promise.allSettled(ids.map(undoAnswer));
    const again = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = results.find((one) => one.status === "rejected");
    countAnswers(-again.length);
    refresh(client);
    if (failed) toast.error(clean((failed.reason as Error).message));
    if (again.length > 0) onUndone(again);
  };
  const shown = toast.success(words, {
    duration: UNDO_S * 1000,
    action: { label: "Undo", onClick: () => void take() },
  });
  latest = { undo: () => void take(), until: Date.now() + UNDO_S * 1000 };
}

/** The id of the question that is open again. */
export async function undoAnswer(id: string): Promise<string> {
  const undone = await data(
    api.POST("/api/v1/prompts/{prompt_id}/undo", { params: { path: { prompt_id: id } } }),
  );
  return undone.prompt.id;
}

const COUNT = "am:answered";
const today = () => new Date().toDateString();

/** How many questions were answered in this browser today. */
export function answeredToday(): number {
  try {
    const kept = JSON.parse(localStorage.getItem(COUNT) ?? "null");
    return kept?.day === today() ? kept.count : 0;
  } catch {
    return 0;
  }
}

export function countAnswers(more: number) {
  try {
    const count = Math.max(0, answeredToday() + more);
    localStorage.setItem(COUNT, JSON.stringify({ day: today(), count }));
  } catch {
    // A forbidden storage only costs the count.
  }
}
