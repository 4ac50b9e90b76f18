import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api, data } from "@/api/client";

export const changesQuery = (task: string, since?: number) =>
  queryOptions({
    queryKey: ["task", task, "changes", since ?? null],
    queryFn: () =>
      data(
        api.GET("/api/v1/tasks/{task_id}/changes", {
          params: { path: { task_id: task }, query: { since } },
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const commentsQuery = (task: string) =>
  queryOptions({
    queryKey: ["task", task, "comments"],
    queryFn: () =>
      data(api.GET("/api/v1/tasks/{task_id}/comments", { params: { path: { task_id: task } } })),
  });

export const fileQuery = (task: string, head: string, path: string, since?: number) =>
  queryOptions({
    // The head is part of the key, so what was read of a commit is never asked for again.
    queryKey: ["diff", task, head, path, since ?? null],
    queryFn: () =>
      data(
        api.GET("/api/v1/tasks/{task_id}/changes/file", {
          params: { path: { task_id: task }, query: { path, since } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Files that were looked at, as they are at this commit. */
export function useViewed(task: string, head: string) {
  const key = `am:viewed:${task}`;
  const [paths, setPaths] = useState<ReadonlySet<string>>(() => {
    try {
      const kept = JSON.parse(localStorage.getItem(key) ?? "{}");
      return new Set(kept.head === head ? (kept.paths as string[]) : []);
    } catch {
      return new Set();
    }
  });
  const set = useCallback(
    (path: string, viewed: boolean) =>
      setPaths((before) => {
        const after = new Set(before);
        if (viewed) after.add(path);
        else after.delete(path);
        try {
          localStorage.setItem(key, JSON.stringify({ head, paths: [...after] }));
        } catch {
          // Only a mark; the review does not depend on it.
        }
        return after;
      }),
    [key, head],
  );
  return { viewed: paths, set };
}
