import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { taskQueries } from "@/features/task/queries";
import { RunPrompt } from "@/features/transcript/RunPrompt";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Pre } from "@/kit/Pre";
import { Await } from "@/kit/State";
import { clean, percent, shortened } from "@/kit/text";
import type { StageRun } from "./standing";

type Given = Schemas["StageGiven"];
const whole = (characters: number) => characters.toLocaleString("en-US");

/** What an agent was given of what the others said, and how much that is of everything. */
export function GivenDialog({
  task,
  run,
  onClose,
}: {
  task: string;
  run: StageRun;
  onClose: () => void;
}) {
  const given = useQuery(taskQueries.given(task, run.id));
  const [prompt, setPrompt] = useState(false);
  if (prompt) return <RunPrompt run={run.id} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} wide title={`What ${clean(run.agent)} was given`}>
      <Await query={given}>
        {(found) => (
          <div className="space-y-4">
            <Share given={found} />
            {Object.entries(found.outputs).map(([heading, text]) => (
              <Part key={heading} heading={heading} text={text} />
            ))}
            <Button onClick={() => setPrompt(true)}>The whole prompt</Button>
          </div>
        )}
      </Await>
    </Dialog>
  );
}

function Share({ given }: { given: Given }) {
  if (given.everything === 0)
    return <p>The request alone: nobody had said anything before it ran.</p>;
  const share = given.characters / given.everything;
  return (
    <div className="space-y-1.5">
      <p>
        The request, and {whole(given.characters)} of the {whole(given.everything)} characters that
        the others had said ({percent(share)}).
      </p>
      <div className="h-1.5 overflow-hidden rounded-full bg-hover">
        <div
          className="h-full rounded-full bg-accent"
          style={{ width: `${Math.min(100, share * 100)}%` }}
        />
      </div>
    </div>
  );
}

function Part({ heading, text }: { heading: string; text: string }) {
  const shown = shortened(clean(text));
  return (
    <section className="space-y-1">
      <h3 className="flex items-baseline gap-2 text-xs font-semibold">
        {clean(heading)}
        <span className="font-normal text-ink-3">{whole(text.length)} characters</span>
      </h3>
      <Pre className="max-h-64">
        {shown.text}
        {shown.cut > 0 && `\n… ${shown.cut} more characters`}
      </Pre>
    </section>
  );
}
