import { WorkerPoolContextProvider } from "@pierre/diffs/react";
import DiffsWorker from "@pierre/diffs/worker/worker.js?worker";
import type { ReactNode } from "react";

export const THEME = { dark: "pierre-dark", light: "pierre-light" } as const;

const POOL = { workerFactory: () => new DiffsWorker(), poolSize: 1 };
const LOOK = { theme: THEME };

/** Colours are found beside the page, so that a long file is seen before it has them. */
export function Highlighting({ children }: { children: ReactNode }) {
  return (
    <WorkerPoolContextProvider poolOptions={POOL} highlighterOptions={LOOK}>
      {children}
    </WorkerPoolContextProvider>
  );
}
