import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import type { Schemas } from "@/api/client";
import { taskQueries } from "@/features/task/queries";
import { Button } from "@/kit/Button";
import { AgentChoice, type Entry, given } from "./AgentChoice";

export interface Entries {
  contenders: Entry[];
  judge: Entry;
}
const NOBODY: Entry = { agent: "", model: "" };
export const FEWEST = 2;
const MOST = 5;
export const BLANK: Entries = { contenders: [NOBODY, NOBODY], judge: NOBODY };

/** What the server is asked for; null while it is not yet said who races. */
export function raceOf({ contenders, judge }: Entries): Schemas["RaceForm"] | null {
  const named = contenders.filter((one) => one.agent);
  if (named.length < FEWEST) return null;
  return { contenders: named.map(given), judge: judge.agent ? given(judge) : null };
}

/** Two to five agents, each with its model if it is to have another than usual, and who picks. */
export function RaceFields({
  project,
  value,
  onChange,
}: {
  project: string;
  value: Entries;
  onChange: (value: Entries) => void;
}) {
  const agents = useQuery(taskQueries.agents(project)).data?.items ?? [];
  const names = agents.map((one) => one.name);
  const set = (at: number, one: Entry) =>
    onChange({ ...value, contenders: value.contenders.map((old, i) => (i === at ? one : old)) });
  return (
    <div className="space-y-3">
      {value.contenders.map((one, index) => (
        <div key={index} className="flex items-end gap-2">
          <AgentChoice
            label={`Agent ${index + 1}`}
            none="Nobody"
            names={names}
            value={one}
            onChange={(next) => set(index, next)}
          />
          <Button
            size="icon"
            aria-label={`Without agent ${index + 1}`}
            disabled={value.contenders.length <= FEWEST}
            onClick={() =>
              onChange({ ...value, contenders: value.contenders.filter((_, i) => i !== index) })
            }
          >
            <X size={14} />
          </Button>
        </div>
      ))}
      <Button
        size="small"
        disabled={value.contenders.length >= MOST}
        onClick={() => onChange({ ...value, contenders: [...value.contenders, NOBODY] })}
      >
        <Plus size={13} /> One more
      </Button>
      <div className="flex items-end gap-2">
        <AgentChoice
          label="Judge"
          none="A person picks"
          names={names}
          value={value.judge}
          onChange={(judge) => onChange({ ...value, judge })}
        />
      </div>
    </div>
  );
}
