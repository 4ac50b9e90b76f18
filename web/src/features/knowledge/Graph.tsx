import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { useMemo, useRef } from "react";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Select } from "@/kit/Field";
import { completeId } from "@/kit/ids";
import { Await, Empty } from "@/kit/State";
import { plural } from "@/kit/text";
import { Finder } from "./Finder";
import { Frame, OfProject } from "./Frame";
import { type By, type Drawing, islandsOf } from "./graphModel";
import { IslandList, Islands } from "./Islands";
import { knowledge } from "./queries";
import { Surroundings } from "./Surroundings";

/** All findings of a project from afar, and each from near. */
export function Graph() {
  return (
    <Frame fixed>
      <OfProject>{(project) => <OfOne project={project} />}</OfProject>
    </Frame>
  );
}

function OfOne({ project }: { project: string }) {
  const graph = useQuery(knowledge.graph(project));
  return (
    <Await query={graph}>
      {(drawing) =>
        drawing.nodes.length === 0 ? (
          <Empty icon={<Waypoints size={28} />} title="Nothing is known yet">
            What agents find out is drawn here as their runs end.
          </Empty>
        ) : (
          <Shown drawing={drawing} />
        )
      }
    </Await>
  );
}

function Shown({ drawing }: { drawing: Drawing }) {
  const {
    node: given,
    group,
    by = "tag",
    hops = 2,
  } = useSearch({ from: "/frame/knowledge/graph" });
  const navigate = useNavigate({ from: "/knowledge/graph" });
  const box = useRef<HTMLInputElement>(null);
  const islands = useMemo(() => islandsOf(drawing, by), [drawing, by]);
  const island = islands.find((one) => one.id === group);
  const node =
    given &&
    completeId(
      drawing.nodes.map((one) => one.id),
      given,
    );
  const chosen = drawing.nodes.find((one) => one.id === node);
  const show = (part: { node?: string; group?: string }) =>
    void navigate({ search: (before) => ({ ...before, node: undefined, ...part }) });
  useShortcuts("Graph", [
    { keys: "f", label: "Find in the graph", run: () => box.current?.focus() },
    { keys: "0", label: "Show the whole graph", run: () => show({ group: undefined }) },
  ]);
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b px-4 py-2.5 sm:px-6">
        <Finder nodes={drawing.nodes} box={box} onChoose={(id) => show({ node: id })} />
        {chosen ? (
          <>
            <label className="flex items-center gap-2 text-ink-2 max-sm:min-h-11">
              Steps
              <input
                type="range"
                min={1}
                max={3}
                value={hops}
                className="w-24 accent-accent"
                aria-valuetext={plural(hops, "step")}
                onChange={(event) =>
                  void navigate({
                    search: (before) => ({ ...before, hops: Number(event.target.value) }),
                    replace: true,
                  })
                }
              />
              <span className="w-3 tabular-nums">{hops}</span>
            </label>
            <Button hint="0" onClick={() => show({})}>
              The whole graph
            </Button>
          </>
        ) : (
          <Select
            aria-label="Together by"
            value={by}
            onChange={(event) =>
              void navigate({
                search: (before) => ({
                  ...before,
                  group: undefined,
                  by: event.target.value === "tag" ? undefined : (event.target.value as Unset),
                }),
                replace: true,
              })
            }
          >
            <option value="tag">By tag</option>
            <option value="task">By task</option>
            <option value="kind">By kind</option>
          </Select>
        )}
        <p className="text-xs text-ink-3">
          {drawing.cut
            ? `The newest ${drawing.nodes.length} findings`
            : plural(drawing.nodes.length, "finding")}
        </p>
      </div>
      {node && !chosen ? (
        <Empty title="It is not in the drawing">
          It is retired, of another project, or older than the newest {drawing.nodes.length}.
        </Empty>
      ) : chosen ? (
        <Surroundings drawing={drawing} chosen={chosen} hops={hops} />
      ) : (
        <div className="flex min-h-0 flex-1">
          <Islands islands={islands} chosen={island?.id} onChoose={(id) => show({ group: id })} />
          {island && (
            <IslandList
              key={island.id}
              island={island}
              onClose={() => show({ group: undefined })}
              tag={by === "tag" ? island.id : undefined}
            />
          )}
        </div>
      )}
    </>
  );
}

type Unset = Exclude<By, "tag">;
