import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { KindChip } from "./look";
import { knowledge, type NodeView } from "./queries";
import type { Care } from "./useCare";

const SHOWN = 8;

/** Which finding says otherwise, found by its words. */
export function ContradictDialog({
  view,
  contradict,
  onClose,
}: {
  view: NodeView;
  contradict: Care["contradict"];
  onClose: () => void;
}) {
  const { node, project } = view;
  const [words, setWords] = useState("");
  const [other, setOther] = useState("");
  const reason = useDraft(`contradict:${node.id}`, "");
  const wanted = { q: useDeferredValue(words.trim()), tags: [], project: project.name };
  const found = useInfiniteQuery(knowledge.search(wanted));
  const fits = (found.data?.pages[0]?.items ?? [])
    .map((one) => one.node)
    .filter((one) => one.id !== node.id && one.kind !== "task")
    .slice(0, SHOWN);
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="Which finding says otherwise?"
      description="Both are in doubt then, until somebody confirms one or retires the other."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          contradict.mutate(
            { id: node.id, other, reason: reason.value.trim() },
            {
              onSuccess: () => {
                reason.forget();
                onClose();
              },
            },
          );
        }}
      >
        <Field label="Find it by its words">
          {(id) => (
            <Input
              id={id}
              type="search"
              autoFocus
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          )}
        </Field>
        <fieldset className="grid gap-1">
          <legend className="sr-only">Findings</legend>
          {fits.length === 0 && (
            <p className="text-ink-3">
              {found.isFetching ? "Looking…" : "Nothing else is known that fits."}
            </p>
          )}
          {fits.map((one) => (
            <label
              key={one.id}
              className={cx(
                "flex min-h-10 cursor-pointer items-center gap-2.5 rounded-md border px-2.5 py-1.5 max-sm:min-h-11",
                other === one.id ? "border-accent bg-accent-soft" : "hover:bg-hover",
              )}
            >
              <input
                type="radio"
                name="other"
                checked={other === one.id}
                onChange={() => setOther(one.id)}
                className="accent-accent"
              />
              <KindChip kind={one.kind} />
              <span className="line-clamp-2 min-w-0 flex-1 wrap-anywhere">{clean(one.text)}</span>
            </label>
          ))}
        </fieldset>
        <Field label="Why they cannot both hold" note="May be left out.">
          {(id) => (
            <TextArea
              id={id}
              value={reason.value}
              onChange={(event) => reason.set(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={!other || contradict.isPending}>
            Put both in doubt
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
