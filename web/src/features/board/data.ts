import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once } from "@/api/client";
import { onTasksChanged } from "@/api/live";
import { consented } from "@/features/task/unmerged";
import { type BoardData, type Card, dependents, type Pending, patched } from "./model";

const LIFE_MS = 15_000;
/** More at once than this is read as a whole. */
const FEW = 100;

const read = (project?: string, tasks?: string[]) =>
  data(api.GET("/api/v1/board", { params: { query: { project, task: tasks } } }));

export const boardQuery = (project?: string) =>
  queryOptions({ queryKey: ["board", project ?? ""], queryFn: () => read(project) });

export const targetsQuery = (task: string) =>
  queryOptions({
    queryKey: ["task", task, "targets"],
    queryFn: () =>
      data(api.GET("/api/v1/tasks/{task_id}/targets", { params: { path: { task_id: task } } })),
    staleTime: 10_000,
  });

/** The board, kept true card by card: ten thousand are not read again because one has moved. */
export function useBoard(project?: string) {
  const client = useQueryClient();
  const query = useQuery(boardQuery(project));
  useEffect(() => {
    const key = boardQuery(project).queryKey;
    const renew = async (changed: Set<string>) => {
      const cards = client.getQueryData<BoardData>(key)?.cards ?? [];
      const tasks = new Set([...changed, ...dependents(cards, changed)]);
      if (tasks.size > FEW) return client.invalidateQueries({ queryKey: key });
      const news = await read(project, [...tasks]).catch(() => null);
      if (!news) return client.invalidateQueries({ queryKey: key });
      client.setQueryData<BoardData>(key, (board) => board && patched(board, tasks, news));
    };
    const off = onTasksChanged((tasks) => void renew(tasks));
    const alive = setInterval(() => {
      if (document.hidden) return;
      const cards = client.getQueryData<BoardData>(key)?.cards ?? [];
      const running = cards.filter((card) => card.run).map((card) => card.id);
      if (running.length) void renew(new Set(running.slice(0, FEW)));
    }, LIFE_MS);
    return () => {
      off();
      clearInterval(alive);
    };
  }, [client, project]);
  return query;
}

/** Moves by hand, shown at once and taken back with the server's reason when it refuses. */
export function useMoves() {
  const [pending, setPending] = useState<Pending>(new Map());
  const client = useQueryClient();
  const settle = (id: string) =>
    setPending((before) => {
      const after = new Map(before);
      after.delete(id);
      return after;
    });
  const move = useMutation({
    mutationFn: ({ card, to }: { card: Card; to: string }) =>
      consented((consent) =>
        data(
          api.POST("/api/v1/tasks/{task_id}/move", {
            params: { path: { task_id: card.id } },
            headers: once(),
            body: { to, expect_version: card.version, force: false, stop: false, ...consent },
          }),
        ),
      ),
    onMutate: ({ card, to }) =>
      setPending((before) => new Map(before).set(card.id, { to, version: card.version })),
    onSuccess: (moved, { card }) => {
      if (!moved.stopping_run) return;
      settle(card.id);
      toast.info("The agent is being stopped first; the task moves when it has ended.");
    },
    onError: (error: ApiError, { card }) => {
      settle(card.id);
      toast.error(`"${card.title}" stays where it is: ${error.message}`);
      void client.invalidateQueries({ queryKey: ["task", card.id] });
    },
  });
  return { pending, move: (card: Card, to: string) => move.mutate({ card, to }) };
}
