import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas, TaskView } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { taskQueries } from "./queries";
import { settingsOf } from "./settings";
import { type Actions, told } from "./useActions";

const MODES = ["plan", "implement", "review", "investigate", "design"];
const BLANK = { mode: "", agent: "", model: "", settings: "" };

/** A run as one wants it; what is left out is as in the last run. */
export function RunDialog({
  view,
  run,
  onClose,
}: {
  view: TaskView;
  run: Actions["run"];
  onClose: () => void;
}) {
  const agents = useQuery(taskQueries.agents(view.project.id)).data?.items ?? [];
  const draft = useDraft(`run:${view.task.id}`, BLANK);
  const [fault, setFault] = useState("");
  const form = draft.value;
  const set = (part: Partial<typeof BLANK>) => draft.set({ ...form, ...part });
  const last = view.runs.at(-1);
  const agent = agents.find((one) => one.name === form.agent);
  const send = () => {
    const settings = settingsOf(form.settings);
    if (typeof settings === "string") return setFault(settings);
    setFault("");
    const body: Schemas["RunForm"] = {
      settings,
      mode: form.mode || null,
      agent: form.agent || null,
      model: form.model.trim() || null,
    };
    run.mutate(body, {
      onSuccess: () => {
        draft.forget();
        onClose();
      },
    });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Run with options"
      description="What is left as it is follows the last run."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <Field label="Mode">
            {(id) => (
              <Select
                id={id}
                className="w-full"
                value={form.mode}
                onChange={(event) => set({ mode: event.target.value })}
              >
                <option value="">{last ? `As before (${last.mode})` : "As the status says"}</option>
                {MODES.map((mode) => (
                  <option key={mode}>{mode}</option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Agent">
            {(id) => (
              <Select
                id={id}
                className="w-full"
                value={form.agent}
                onChange={(event) => set({ agent: event.target.value })}
              >
                <option value="">
                  {last?.agent ? `As before (${last.agent})` : "The default agent"}
                </option>
                {agents.map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.usable ? one.name : `${one.name} (something is missing)`}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        {agent && [...agent.missing, ...agent.doubts].length > 0 && (
          <ul className="space-y-1 rounded-md bg-warn-soft px-3 py-2 text-warn">
            {[...agent.missing, ...agent.doubts].map((line) => (
              <li key={line}>{clean(line)}</li>
            ))}
          </ul>
        )}
        <Field label="Model">
          {(id) => (
            <Input
              id={id}
              placeholder={agent?.model ?? last?.model ?? "The agent's own"}
              value={form.model}
              onChange={(event) => set({ model: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Settings"
          note="One on a line, as in maxTurns=20 or timeout=600000."
          error={fault}
        >
          {(id) => (
            <TextArea
              id={id}
              className="font-mono"
              value={form.settings}
              onChange={(event) => set({ settings: event.target.value })}
            />
          )}
        </Field>
        {run.error && (
          <p role="alert" className="text-bad">
            {told(run.error)}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={run.isPending}>
            Start the agent
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
