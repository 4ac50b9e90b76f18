import type { TaskView } from "@/api/client";

/** The issue that a task was made of, where it was. */
export function issueOf({ artifacts }: Pick<TaskView, "artifacts">) {
  for (const { type, data } of artifacts) {
    const { repository, number, url } = data;
    if (type !== "link" || typeof url !== "string" || !/^https?:\/\//.test(url)) continue;
    return { name: `${repository}#${number}`, url };
  }
  return null;
}
