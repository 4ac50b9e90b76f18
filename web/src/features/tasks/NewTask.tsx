import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { toast } from "sonner";
import { type ApiError, api, data, once } from "@/api/client";
import { queries } from "@/api/queries";
import { useDraft } from "@/app/drafts";
import { AgentChoice, given } from "@/features/race/AgentChoice";
import { type Entries, BLANK as NEW_RACE, RaceFields, raceOf } from "@/features/race/RaceFields";
import { taskQueries } from "@/features/task/queries";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";

const BLANK = {
  project: "",
  title: "",
  description: "",
  type: "feature",
  priority: "medium",
  size: "medium",
  pipeline: "",
  startsAt: "",
  agent: "",
  model: "",
  /** Who implements it side by side; null: one agent. */
  race: null as Entries | null,
  key: "",
};

export function NewTask({
  open,
  onClose,
  begun,
}: {
  open: boolean;
  onClose: () => void;
  /** What it begins with, and the name of a draft of its own. */
  begun?: { key: string; title: string; project: string };
}) {
  const { project } = useSearch({ from: "/frame" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const projects = useQuery(queries.projects()).data?.items ?? [];
  const pipelines = useQuery(queries.pipelines()).data?.items ?? [];
  const blank = begun ? { ...BLANK, title: begun.title, project: begun.project } : BLANK;
  const draft = useDraft(begun ? `new-task:${begun.key}` : "new-task", blank);
  const form = {
    ...draft.value,
    project: draft.value.project || project || projects[0]?.name || "",
  };
  const projectId = projects.find((one) => one.name === form.project)?.id ?? form.project;
  const agents = useQuery({ ...taskQueries.agents(projectId), enabled: open }).data?.items ?? [];
  const set = (part: Partial<typeof BLANK>) => draft.set({ ...form, ...part });
  const usable = pipelines.filter(
    (one) => !one.id.includes("@") || one.id.endsWith(`@${form.project}`),
  );
  const create = useMutation({
    mutationFn: async (start: boolean) => {
      // One key for these words: sending them twice makes one task.
      const key = form.key || (once()["Idempotency-Key"] as string);
      draft.set({ ...form, key });
      const task = await data(
        api.POST("/api/v1/tasks", {
          headers: once(key),
          body: {
            project: form.project,
            title: form.title,
            description: form.description,
            type: form.type,
            priority: form.priority,
            size: form.size,
            pipeline: form.pipeline || undefined,
            starts_at: form.startsAt && !start ? new Date(form.startsAt).toISOString() : undefined,
            ...(form.race || !form.agent ? {} : given(form)),
            race: (form.race && raceOf(form.race)) ?? undefined,
          },
        }),
      );
      if (start)
        await data(
          api.POST("/api/v1/tasks/{task_id}/start", { params: { path: { task_id: task.id } } }),
        ).catch((error: ApiError) => toast.error(`It was not started: ${error.message}`));
      return task;
    },
    onSuccess: (task) => {
      draft.forget();
      void client.invalidateQueries({ queryKey: ["tasks"] });
      onClose();
      void navigate({ to: "/tasks/$taskId", params: { taskId: task.id } });
    },
  });
  const error = create.error as ApiError | null;
  /** Several are wanted, and it is not said yet who. */
  const unsaid = form.race !== null && !raceOf(form.race);
  return (
    <Dialog open={open} onClose={onClose} title="New task">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(!form.startsAt);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
            create.mutate(!form.startsAt);
        }}
      >
        <Field label="Title">
          {(id) => (
            <Input
              id={id}
              required
              autoFocus
              value={form.title}
              onChange={(event) => set({ title: event.target.value, key: "" })}
            />
          )}
        </Field>
        <Field label="What is to be done" note="Markdown. The agent gets it word for word.">
          {(id) => (
            <TextArea
              id={id}
              rows={5}
              value={form.description}
              onChange={(event) => set({ description: event.target.value, key: "" })}
            />
          )}
        </Field>
        <div className="grid grid-cols-2 gap-3">
          <Choice
            label="Project"
            value={form.project}
            onChange={(value) => set({ project: value, key: "" })}
          >
            {projects.map((one) => [one.name, one.name])}
          </Choice>
          <Choice
            label="Type"
            value={form.type}
            onChange={(value) => set({ type: value, key: "" })}
          >
            {["feature", "bug", "chore", "document"].map((one) => [one, one])}
          </Choice>
          <Choice
            label="Pipeline"
            value={form.pipeline}
            onChange={(value) => set({ pipeline: value, key: "" })}
          >
            {[
              ["", "As the type says"],
              ...usable.map((one): [string, string] => [one.id, one.name]),
            ]}
          </Choice>
          <Choice
            label="Priority"
            value={form.priority}
            onChange={(value) => set({ priority: value, key: "" })}
          >
            {["low", "medium", "high", "urgent"].map((one) => [one, one])}
          </Choice>
        </div>
        <Field label="Start later" note="The engine starts it then. Empty: it is not started.">
          {(id) => (
            <Input
              id={id}
              type="datetime-local"
              value={form.startsAt}
              onChange={(event) => set({ startsAt: event.target.value, key: "" })}
            />
          )}
        </Field>
        {!form.race && (
          <AgentChoice
            label="Agent"
            none="The project's default"
            names={agents.map((one) => one.name)}
            value={form}
            onChange={({ agent, model }) => set({ agent, model, key: "" })}
          />
        )}
        <label className="flex min-h-8 items-center gap-2 max-sm:min-h-11">
          <input
            type="checkbox"
            checked={form.race !== null}
            onChange={(event) => set({ race: event.target.checked ? NEW_RACE : null, key: "" })}
          />
          Several agents side by side
        </label>
        {form.race && (
          <RaceFields
            project={projectId}
            value={form.race}
            onChange={(race) => set({ race, key: "" })}
          />
        )}
        {error && (
          <p role="alert" className="text-bad">
            {error.message} {error.details?.join("; ")}
          </p>
        )}
        <div className="flex justify-end gap-2">
          {!form.startsAt && (
            <Button
              onClick={() => create.mutate(false)}
              disabled={create.isPending || !form.title.trim() || unsaid}
            >
              Create
            </Button>
          )}
          <Button
            look="primary"
            type="submit"
            disabled={create.isPending || unsaid}
            hint="Ctrl+Enter"
          >
            {form.startsAt ? "Create and start then" : "Create and start"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Choice({
  label,
  value,
  onChange,
  children,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: [value: string, words: string][];
}) {
  return (
    <Field label={label}>
      {(id) => (
        <Select
          id={id}
          className="w-full"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {children.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
