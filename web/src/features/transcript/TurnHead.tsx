import { useState } from "react";
import { Button } from "@/kit/Button";
import { RunPrompt } from "./RunPrompt";

/** Where a turn of the run begins: with what the agent was told. */
export function TurnHead({ run, turn }: { run: string; turn: number }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="flex items-center gap-3 pt-2">
      <span className="text-xs font-semibold text-ink-2">
        {turn === 1 ? "The agent begins" : `Turn ${turn}: the agent was asked again`}
      </span>
      <span className="h-px flex-1 bg-line" />
      <Button size="small" look="quiet" onClick={() => setOpen(true)}>
        What it was told
      </Button>
      {open && <RunPrompt run={run} turn={turn} onClose={() => setOpen(false)} />}
    </div>
  );
}
