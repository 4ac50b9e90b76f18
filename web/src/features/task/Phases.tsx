import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, SkipForward } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { api, data, once, type Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip, type Tone } from "@/kit/Chip";
import { Panel, Section } from "@/kit/Page";
import { clean } from "@/kit/text";
import { Sure } from "./Sure";
import { told } from "./useActions";

type Phase = Schemas["Phase"];
const TONES: Record<Phase["status"], Tone> = {
  pending: "neutral",
  active: "accent",
  done: "good",
  skipped: "warn",
};

/** The phases of a task that was split; those that have not begun can be left out or moved. */
export function Phases({ task, phases }: { task: string; phases: Phase[] }) {
  const client = useQueryClient();
  const [skipping, setSkipping] = useState<Phase | null>(null);
  const common = {
    onSettled: () => client.invalidateQueries({ queryKey: ["task", task] }),
    onError: (error: Error) => void toast.error(told(error)),
  };
  const skip = useMutation({
    ...common,
    mutationFn: (number: number) =>
      data(
        api.POST("/api/v1/tasks/{task_id}/phases/{number}/skip", {
          params: { path: { task_id: task, number } },
          headers: once(),
        }),
      ),
  });
  const order = useMutation({
    ...common,
    mutationFn: (numbers: number[]) =>
      data(
        api.POST("/api/v1/tasks/{task_id}/phases/order", {
          params: { path: { task_id: task } },
          headers: once(),
          body: { numbers },
        }),
      ),
  });
  const pending = phases.filter((phase) => phase.status === "pending");
  const swap = (phase: Phase, by: 1 | -1) => {
    const numbers = pending.map((one) => one.number);
    const at = numbers.indexOf(phase.number);
    const other = numbers[at + by];
    if (other === undefined) return;
    numbers[at] = other;
    numbers[at + by] = phase.number;
    order.mutate(numbers);
  };
  const done = phases.filter((phase) => phase.status === "done" || phase.status === "skipped");
  return (
    <Section title="Phases" note={`${done.length} of ${phases.length} done`}>
      <Panel>
        <ol className="divide-y">
          {phases.map((phase, index) => (
            <li key={phase.id} className="flex items-start gap-3 px-3 py-2.5">
              <span className="w-5 shrink-0 text-right text-ink-3 tabular-nums">{index + 1}</span>
              <div className="min-w-0 flex-1">
                <p className="font-medium break-words">{clean(phase.name)}</p>
                <p className="break-words text-ink-2">{clean(phase.description)}</p>
              </div>
              <Chip tone={TONES[phase.status]}>{phase.status}</Chip>
              {phase.status === "pending" && (
                <span className="flex shrink-0">
                  <Button
                    size="icon"
                    look="quiet"
                    aria-label={`Move up: ${phase.name}`}
                    disabled={phase === pending[0] || order.isPending}
                    onClick={() => swap(phase, -1)}
                  >
                    <ArrowUp size={14} />
                  </Button>
                  <Button
                    size="icon"
                    look="quiet"
                    aria-label={`Move down: ${phase.name}`}
                    disabled={phase === pending.at(-1) || order.isPending}
                    onClick={() => swap(phase, 1)}
                  >
                    <ArrowDown size={14} />
                  </Button>
                  <Button
                    size="icon"
                    look="quiet"
                    aria-label={`Skip: ${phase.name}`}
                    title="Skip"
                    onClick={() => setSkipping(phase)}
                  >
                    <SkipForward size={14} />
                  </Button>
                </span>
              )}
            </li>
          ))}
        </ol>
      </Panel>
      {skipping && (
        <Sure
          title="Leave this phase out?"
          action="Skip the phase"
          onClose={() => setSkipping(null)}
          onSure={() => {
            skip.mutate(skipping.number);
            setSkipping(null);
          }}
        >
          <p>
            <b className="font-medium text-ink">{clean(skipping.name)}</b> will not be worked at.
          </p>
        </Sure>
      )}
    </Section>
  );
}
