import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Field, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import type { KnowledgeNode } from "./queries";
import type { Care } from "./useCare";

export function RetireDialog({
  node,
  retire,
  onClose,
  suggested = "",
}: {
  node: KnowledgeNode;
  retire: Care["retire"];
  onClose: () => void;
  /** A reason to begin with. */
  suggested?: string;
}) {
  const draft = useDraft(`retire:${node.id}`, suggested);
  const reason = draft.value.trim();
  const send = () =>
    reason &&
    retire.mutate(
      { id: node.id, reason },
      {
        onSuccess: () => {
          draft.forget();
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="Retire this finding?"
      description="Agents are not told it any more. It stays on record, and can be confirmed again."
    >
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
        <blockquote className="line-clamp-4 border-l-2 pl-3 text-ink-2 wrap-anywhere">
          {clean(node.text)}
        </blockquote>
        <Field label="Why it holds no longer">
          {(id) => (
            <TextArea
              id={id}
              autoFocus
              required
              value={draft.value}
              onChange={(event) => draft.set(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            type="submit"
            hint="Ctrl+Enter"
            disabled={!reason || retire.isPending}
          >
            Retire it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
