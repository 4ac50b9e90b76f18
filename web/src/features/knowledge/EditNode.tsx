import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { toast } from "sonner";
import { ApiError, api, data, once } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { told } from "@/features/task/useActions";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select, TextArea } from "@/kit/Field";
import { Pre } from "@/kit/Pre";
import { clean } from "@/kit/text";
import { type KnowledgeNode, knowledge } from "./queries";
import { changesOf, DETAILS, differing, nameOf, wordsOf } from "./words";

/** Somebody else's change is shown beside one's own before it is overwritten. */
export function EditNode({ node, onClose }: { node: KnowledgeNode; onClose: () => void }) {
  const client = useQueryClient();
  const blank = useMemo(
    () => ({ version: node.version, base: wordsOf(node), words: wordsOf(node) }),
    [node],
  );
  const draft = useDraft(`node:${node.id}`, blank);
  // What nobody has typed into follows the finding.
  const form = draft.kept ? draft.value : blank;
  const [theirs, setTheirs] = useState<KnowledgeNode | null>(null);
  const set = (field: string, value: string) =>
    draft.set({ ...form, words: { ...form.words, [field]: value } });
  const save = useMutation({
    mutationFn: () =>
      data(
        api.PATCH("/api/v1/knowledge/nodes/{node_id}", {
          params: { path: { node_id: node.id } },
          headers: once(),
          body: { ...changesOf(form.words, form.base), expect_version: form.version },
        }),
      ),
    onSuccess: (view) => {
      draft.forget();
      client.setQueryData(["knowledge", "node", node.id], view);
      void client.invalidateQueries({ queryKey: ["knowledge"] });
      toast.success("Saved. What was said before stays with those who said it.");
      onClose();
    },
    onError: async (error) => {
      if (!(error instanceof ApiError) || error.code !== "StaleKnowledge") return;
      const now = await client.fetchQuery({ ...knowledge.node(node.id), staleTime: 0 });
      setTheirs(now.node);
    },
  });
  const changed = differing(form.words, form.base);
  const goOn = (keepMine: boolean) => {
    if (!theirs) return;
    const base = wordsOf(theirs);
    const clash = differing(base, form.base);
    const words = { ...base };
    for (const field of changed)
      if (keepMine || !clash.includes(field)) words[field] = form.words[field] ?? "";
    draft.set({ version: theirs.version, base, words });
    setTheirs(null);
    save.reset();
  };
  const send = () => changed.length > 0 && !theirs && !save.isPending && save.mutate();
  const long = ["text", ...DETAILS[node.kind]];
  return (
    <Dialog open onClose={onClose} title={`Edit the ${node.kind}`} wide>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      >
        {long.map((field) => (
          <Field key={field} label={nameOf(field)}>
            {(id) => (
              <TextArea
                id={id}
                required={field === "text"}
                value={form.words[field] ?? ""}
                onChange={(event) => set(field, event.target.value)}
              />
            )}
          </Field>
        ))}
        <div className="flex flex-wrap gap-3">
          <div className="min-w-52 flex-1">
            <Field label={nameOf("tags")} note="With commas between.">
              {(id) => (
                <Input
                  id={id}
                  value={form.words.tags ?? ""}
                  onChange={(event) => set("tags", event.target.value)}
                />
              )}
            </Field>
          </div>
          {form.words.severity !== undefined && (
            <Field label={nameOf("severity")}>
              {(id) => (
                <Select
                  id={id}
                  value={form.words.severity}
                  onChange={(event) => set("severity", event.target.value)}
                >
                  {["high", "medium", "low"].map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </Select>
              )}
            </Field>
          )}
        </div>
        {theirs ? (
          <Conflict theirs={theirs} base={form.base} mine={changed} goOn={goOn} />
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
  base,
  mine,
  goOn,
}: {
  theirs: KnowledgeNode;
  base: Record<string, string>;
  mine: string[];
  goOn: (keepMine: boolean) => void;
}) {
  const now = wordsOf(theirs);
  const fields = differing(now, base);
  const clash = fields.filter((field) => mine.includes(field));
  return (
    <div role="alert" className="space-y-3 rounded-lg border border-warn/40 bg-warn-soft p-3">
      <p className="font-medium text-warn">
        Somebody changed this finding while you wrote
        {fields.length > 0 && `: ${fields.map((one) => nameOf(one).toLowerCase()).join(", ")}`}. It
        is {theirs.state} now. Nothing of yours is lost.
      </p>
      {clash.map((field) => (
        <div key={field}>
          <p className="text-xs font-medium">{nameOf(field)} is now:</p>
          <Pre className="mt-1 max-h-40 bg-raised">{clean(now[field] ?? "") || "(empty)"}</Pre>
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
