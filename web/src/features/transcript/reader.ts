/** Reads what an agent printed, from any place on, as the past and then live. */
import { api, BASE, data } from "@/api/client";
import type { Line, Position } from "./messages";

export interface Ended {
  status: string;
  outcome: string | null;
  removed_at?: string;
  /** Why this need not be all that the agent printed. */
  missing?: string;
}
export interface Hears {
  line: (line: Line) => void;
  end: (told: Ended) => void;
  /** True while the connection is lost and tried again; `refused` when it is not tried again. */
  lost: (refused: boolean) => void;
  open: () => void;
}

export interface Extent {
  turns: number;
  /** Of the last turn. */
  size: number;
  removedAt: string | null;
}

export interface Reader {
  extent: () => Promise<Extent>;
  size: (turn: number) => Promise<number>;
  /** Calls back until it is closed. */
  open: (after: Position | null, hears: Hears) => () => void;
}

export function readerOf(run: string): Reader {
  const part = (turn: number) =>
    data(
      api.GET("/api/v1/runs/{run_id}/transcript", {
        params: { path: { run_id: run }, query: { turn, limit: 4 } },
      }),
    );
  return {
    async extent() {
      const first = await part(1);
      const last = first.turns > 1 ? await part(first.turns) : first;
      return { turns: Math.max(1, first.turns), size: last.size, removedAt: first.removed_at };
    },
    size: async (turn) => (await part(turn)).size,
    open(after, hears) {
      const from = after ? `?after=${after.turn}:${after.offset}` : "";
      const source = new EventSource(
        `${BASE}/api/v1/runs/${encodeURIComponent(run)}/output${from}`,
      );
      source.onopen = hears.open;
      source.addEventListener("output", (event) => {
        const told = JSON.parse(event.data);
        hears.line({ ...told, next: Number(event.lastEventId.split(":")[1]), at: null });
      });
      source.addEventListener("end", (event) => {
        source.close();
        hears.end(JSON.parse(event.data));
      });
      source.onerror = () => hears.lost(source.readyState === EventSource.CLOSED);
      return () => source.close();
    },
  };
}
