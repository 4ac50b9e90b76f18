import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { toast } from "sonner";
import { ApiError, api, data, once, type Task, type TaskView } from "@/api/client";
import { queries } from "@/api/queries";
import { useDraft } from "@/app/drafts";
import { AgentChoice } from "@/features/race/AgentChoice";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { Pre } from "@/kit/Pre";
import { clean, shortened } from "@/kit/text";
import { changesOf, differing, NAMES, type Words, wordsOf } from "./edit";
import { taskQueries } from "./queries";
import { told } from "./useActions";

const CHOICES: Partial<Record<keyof Words, string[]>> = {
  type: ["feature", "bug", "chore", "document"],
  priority: ["low", "medium", "high", "urgent"],
  size: ["small", "medium", "large"],
  complexity: ["low", "medium", "high"],
};
const LONG: Partial<Record<keyof Words, string>> = {
  description: "Markdown. The agent gets it word for word.",
  objective: "",
  acceptance_criteria: "One on a line.",
  dependencies: "Ids of tasks that must be done first, one on a line.",
};

/** The words of a task. Somebody else's change is shown beside one's own before it is overwritten. */
export function EditDialog({ view, onClose }: { view: TaskView; onClose: () => void }) {
  const client = useQueryClient();
  const blank = useMemo(
    () => ({ version: view.task.version, base: wordsOf(view.task), words: wordsOf(view.task) }),
    [view.task],
  );
  const draft = useDraft(`edit:${view.task.id}`, blank);
  // What nobody has typed into follows the task.
  const form = draft.kept ? draft.value : blank;
  const [theirs, setTheirs] = useState<Task | null>(null);
  const agents = useQuery(taskQueries.agents(view.project.id)).data?.items ?? [];
  const set = (part: Partial<Words>) => draft.set({ ...form, words: { ...form.words, ...part } });
  const changed = differing(form.words, form.base);
  const save = useMutation({
    mutationFn: () =>
      data(
        api.PATCH("/api/v1/tasks/{task_id}", {
          params: { path: { task_id: view.task.id } },
          headers: once(),
          body: { ...changesOf(form.words, form.base), expect_version: form.version },
        }),
      ),
    onSuccess: (edited) => {
      draft.forget();
      void client.invalidateQueries({ queryKey: ["task", view.task.id] });
      toast(edited.run ? "Saved. The agent at work was told the old words." : "Saved.");
      onClose();
    },
    onError: async (error) => {
      if (!(error instanceof ApiError) || error.code !== "StaleTask") return;
      const now = await client.fetchQuery({ ...queries.task(view.task.id), staleTime: 0 });
      setTheirs(now.task);
    },
  });
  const conflict = theirs && differing(wordsOf(theirs), form.base);
  const goOn = (keepMine: boolean) => {
    if (!theirs || !conflict) return;
    const base = wordsOf(theirs);
    const words = { ...base };
    for (const key of changed)
      if (keepMine || !conflict.includes(key)) words[key] = form.words[key];
    draft.set({ version: theirs.version, base, words });
    setTheirs(null);
    save.reset();
  };
  return (
    <Dialog open onClose={onClose} title="Edit the words" wide>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save.mutate();
        }}
      >
        <Field label={NAMES.title}>
          {(id) => (
            <Input
              id={id}
              required
              value={form.words.title}
              onChange={(event) => set({ title: event.target.value })}
            />
          )}
        </Field>
        {(Object.keys(LONG) as (keyof Words)[]).map((key) => (
          <Field key={key} label={NAMES[key]} note={LONG[key]}>
            {(id) => (
              <TextArea
                id={id}
                rows={key === "description" ? 8 : 2}
                value={form.words[key]}
                onChange={(event) => set({ [key]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <div className="grid grid-cols-4 gap-3 max-sm:grid-cols-2">
          {(Object.keys(CHOICES) as (keyof Words)[]).map((key) => (
            <Field key={key} label={NAMES[key]}>
              {(id) => (
                <Select
                  id={id}
                  className="w-full"
                  value={form.words[key]}
                  onChange={(event) => set({ [key]: event.target.value })}
                >
                  {[...new Set([...(CHOICES[key] ?? []), form.words[key]])].map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </Select>
              )}
            </Field>
          ))}
        </div>
        <AgentChoice
          label={NAMES.agent}
          none="The project's default"
          names={agents.map((one) => one.name)}
          value={form.words}
          onChange={({ agent, model }) =>
            // A model belongs to its agent.
            set({ agent, model: agent === form.words.agent ? model : "" })
          }
        />
        <Field label={NAMES.tags} note="With commas between.">
          {(id) => (
            <Input
              id={id}
              value={form.words.tags}
              onChange={(event) => set({ tags: event.target.value })}
            />
          )}
        </Field>
        {theirs && conflict ? (
          <Conflict
            theirs={wordsOf(theirs)}
            fields={conflict}
            clash={conflict.filter((key) => changed.includes(key))}
            goOn={goOn}
          />
        ) : (
          save.error && (
            <p role="alert" className="text-bad">
              {told(save.error)}
            </p>
          )
        )}
        <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-raised px-4 py-3">
          {draft.kept && (
            <Button look="quiet" onClick={draft.forget}>
              Discard my changes
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            look="primary"
            type="submit"
            hint="Ctrl+Enter"
            disabled={save.isPending || changed.length === 0 || theirs !== null}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Conflict({
  theirs,
  fields,
  clash,
  goOn,
}: {
  theirs: Words;
  fields: (keyof Words)[];
  clash: (keyof Words)[];
  goOn: (keepMine: boolean) => void;
}) {
  return (
    <div role="alert" className="space-y-3 rounded-lg border border-warn/40 bg-warn-soft p-3">
      <p className="font-medium text-warn">
        The task changed while you wrote
        {fields.length > 0 && `: ${fields.map((key) => NAMES[key].toLowerCase()).join(", ")}`}.
        Nothing of yours is lost.
      </p>
      {clash.map((key) => (
        <div key={key}>
          <p className="text-xs font-medium">{NAMES[key]} is now:</p>
          <Pre className="mt-1 max-h-40 bg-raised">
            {shortened(clean(theirs[key])).text || "(empty)"}
          </Pre>
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={() => goOn(true)}>
          {clash.length > 0 ? "Go on with mine" : "Go on"}
        </Button>
        {clash.length > 0 && <Button onClick={() => goOn(false)}>Take theirs</Button>}
      </div>
    </div>
  );
}
