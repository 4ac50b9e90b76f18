import { MultiFileDiff } from "@pierre/diffs/react";
import { useMemo } from "react";
import { useDark } from "@/app/theme";

/** What differs between two documents. */
export default function TextDiff({
  name,
  before,
  after,
}: {
  name: string;
  before: string;
  after: string;
}) {
  const dark = useDark();
  const files = useMemo(
    () => ({
      oldFile: { name, contents: before },
      newFile: { name, contents: after },
    }),
    [name, before, after],
  );
  return (
    <MultiFileDiff
      {...files}
      disableWorkerPool
      options={{
        diffStyle: "unified",
        overflow: "wrap",
        disableFileHeader: true,
        theme: { light: "pierre-light", dark: "pierre-dark" },
        themeType: dark ? "dark" : "light",
      }}
    />
  );
}
