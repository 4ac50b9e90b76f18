import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Field, TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { plural } from "@/kit/text";
import { moved, type SplitDraft, splitAnswer } from "./answers";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import { PhaseRow } from "./PhaseRow";
import type { Phase } from "./payloads";
import { draftKey } from "./useSender";

const BLANK: SplitDraft = { phases: null, reason: "" };
const NEW: Phase = { name: "", description: "", complexity: "medium" };

export function SplitForm({ item, asked, sender, keys }: FormProps<"split">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const [rejecting, setRejecting] = useState(!!draft.value.reason);
  const why = useRef<HTMLTextAreaElement>(null);
  const phases = draft.value.phases ?? asked.phases;
  const approval = splitAnswer("approved", draft.value);
  const rejection = splitAnswer("rejected", draft.value);
  const set = (next: Phase[]) => draft.set((before) => ({ ...before, phases: next }));
  const reject = () => {
    setRejecting(true);
    if (rejecting && rejection) sender.send(rejection);
    else requestAnimationFrame(() => why.current?.focus());
  };
  const send = () => {
    if (rejecting) reject();
    else if (approval) sender.send(approval);
  };
  useFormKeys(keys, { custom: reject, send });
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      foot={
        rejecting ? (
          <>
            <Button
              look="primary"
              hint="Ctrl+Enter"
              disabled={sender.busy || !rejection}
              onClick={reject}
            >
              Reject the split
            </Button>
            <Button
              look="quiet"
              onClick={() => {
                draft.set((before) => ({ ...before, reason: "" }));
                setRejecting(false);
              }}
            >
              Back to the phases
            </Button>
          </>
        ) : (
          <>
            <Button
              look="primary"
              hint="Ctrl+Enter"
              disabled={sender.busy || !approval}
              onClick={send}
            >
              Split into {plural(phases.length, "phase")}
            </Button>
            <Button disabled={sender.busy} onClick={reject}>
              Reject…
            </Button>
            {draft.value.phases && (
              <Button
                look="quiet"
                onClick={() => draft.set((before) => ({ ...before, phases: null }))}
              >
                As proposed
              </Button>
            )}
          </>
        )
      }
    >
      <Markdown text={asked.reason} className="text-[15px]" />
      {rejecting ? (
        <Field label="Why should it not be split?" note="The agent is told.">
          {(id) => (
            <TextArea
              id={id}
              ref={why}
              value={draft.value.reason}
              onChange={(event) =>
                draft.set((before) => ({ ...before, reason: event.target.value }))
              }
            />
          )}
        </Field>
      ) : (
        <>
          <ol className="space-y-2" aria-label="Phases">
            {phases.map((phase, index) => (
              <PhaseRow
                key={index}
                list={item.prompt.id}
                phase={phase}
                index={index}
                count={phases.length}
                onChange={(part) =>
                  set(phases.map((one, at) => (at === index ? { ...one, ...part } : one)))
                }
                onMove={(from, to) => set(moved(phases, from, to))}
                onRemove={() => set(phases.filter((_, at) => at !== index))}
              />
            ))}
          </ol>
          <Button onClick={() => set([...phases, NEW])} disabled={phases.length >= 50}>
            <Plus size={15} /> Add a phase
          </Button>
        </>
      )}
    </FormFrame>
  );
}
