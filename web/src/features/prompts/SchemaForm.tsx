import { useMemo } from "react";
import { ApiError } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import { SchemaFields } from "./SchemaFields";
import { blank, faultsByPlace, filled, missing } from "./schema";
import { draftKey } from "./useSender";

/** What a project defined by a schema; begins with what the agent reported. */
export function SchemaForm({ item, asked, sender, keys }: FormProps<"form">) {
  const initial = useMemo(
    () => ({ value: asked.value ?? blank(asked.schema, asked.schema) }),
    [asked],
  );
  const draft = useDraft<{ value: unknown }>(draftKey(item.prompt.id), initial);
  const open = missing(asked.schema, draft.value.value, asked.schema);
  const faults = faultsByPlace(sender.error?.details ?? []);
  const send = () => open.length === 0 && sender.send({ value: filled(draft.value.value) ?? {} });
  useFormKeys(keys, { send });
  return (
    <FormFrame
      onSend={send}
      // What belongs to a field is told there.
      error={sender.error && general(sender.error, faults)}
      foot={
        <>
          <Button
            look="primary"
            hint="Ctrl+Enter"
            disabled={sender.busy || open.length > 0}
            onClick={send}
          >
            {sender.busy ? "Sending…" : "Send"}
          </Button>
          {open.length > 0 && (
            <span className="text-xs text-ink-3">Still needed: {open.map(clean).join(", ")}</span>
          )}
        </>
      }
    >
      {asked.schema.description && <Markdown text={asked.schema.description} />}
      <SchemaFields
        schema={asked.schema}
        root={asked.schema}
        value={draft.value.value}
        onChange={(value) => draft.set({ value })}
        faults={faults}
        path=""
        needed
      />
    </FormFrame>
  );
}

function general(error: ApiError, faults: Record<string, string>): ApiError {
  return new ApiError(error.status, error.code, error.message, faults[""] ? [faults[""]] : []);
}
