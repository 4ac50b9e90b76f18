import { lazy, type ReactNode, Suspense, useState, useSyncExternalStore } from "react";
import { Button } from "@/kit/Button";
import { Loading } from "@/kit/State";
import type { GraphProps } from "./Graph";
import { StatusList } from "./StatusList";

const Graph = lazy(() => import("./Graph"));

/** Beyond this, the list comes first and the graph is drawn when it is asked for. */
const MANY = 200;
const wide = window.matchMedia?.("(min-width: 641px)");

function useWide(): boolean {
  return useSyncExternalStore(
    (tell) => {
      wide?.addEventListener("change", tell);
      return () => wide?.removeEventListener("change", tell);
    },
    () => wide?.matches ?? true,
  );
}

/** The graph, or for phones and very large pipelines the list, with a panel beside it. */
export function Workbench({
  panel,
  panelName,
  roomy,
  ...graph
}: GraphProps & { panel: ReactNode; panelName: string; roomy?: boolean }) {
  const isWide = useWide();
  const many = graph.shape.statuses.length > MANY;
  const [asked, setAsked] = useState(false);
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      {isWide && (
        <section
          aria-label="Graph"
          className="relative flex min-h-0 min-w-0 flex-1 flex-col max-lg:min-h-[45%]"
        >
          {many && !asked ? (
            <>
              <div className="flex items-center gap-3 border-b bg-sunken px-3 py-2">
                <p className="flex-1 text-ink-2">
                  {graph.shape.statuses.length} statuses are easier to read as a list.
                </p>
                <Button size="small" onClick={() => setAsked(true)}>
                  Draw the graph
                </Button>
              </div>
              <StatusList {...graph} />
            </>
          ) : (
            <Suspense fallback={<Loading rows={8} />}>
              <Graph {...graph} />
            </Suspense>
          )}
        </section>
      )}
      <aside
        aria-label={panelName}
        className={`flex min-h-0 flex-col border-l bg-raised max-lg:flex-1 max-lg:border-t max-lg:border-l-0 ${roomy ? "lg:w-[27rem]" : "lg:w-96"} lg:shrink-0`}
      >
        {panel}
      </aside>
    </div>
  );
}
