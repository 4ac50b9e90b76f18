import { useMemo } from "react";
import { ApiError } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import { AnswerFoot } from "./AnswerFoot";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import { Lines } from "./Lines";
import { SchemaFields } from "./SchemaFields";
import { blank, faultsByPlace, filled, missing, rows } from "./schema";
import { draftKey } from "./useSender";

/** What a project asks with an outcome of its own; begins with what the agent suggests. */
export function SchemaForm({ item, asked, sender, keys }: FormProps<"form">) {
  const { schema } = asked;
  const initial = useMemo(() => ({ value: asked.value ?? blank(schema) }), [asked, schema]);
  const draft = useDraft<{ value: unknown }>(draftKey(item.prompt.id), initial);
  const open = missing(schema, draft.value.value);
  const faults = faultsByPlace(sender.error?.details ?? []);
  const send = () => open.length === 0 && sender.send({ value: filled(schema, draft.value.value) });
  useFormKeys(keys, { accept: item.acceptable ? sender.accept : undefined, send });
  const reported = rows(asked.reported);
  return (
    <FormFrame
      onSend={send}
      // What belongs to a field is told there.
      error={sender.error && general(sender.error, faults)}
      foot={
        <AnswerFoot
          acceptable={!!item.acceptable}
          begun={draft.kept}
          keys={keys}
          sender={sender}
          ready={open.length === 0}
          send={send}
          words="Send"
        >
          {open.length > 0 && (
            <span className="text-xs text-ink-3">Still needed: {open.map(clean).join(", ")}</span>
          )}
        </AnswerFoot>
      }
    >
      <div className="space-y-1">
        <p className="text-[15px] font-medium wrap-anywhere">{clean(asked.title)}</p>
        {schema.description && <Markdown text={schema.description} className="text-ink-2" />}
      </div>
      {reported.length > 0 && (
        <section aria-label="What the agent reports" className="rounded-lg border bg-sunken p-4">
          <Lines lines={reported} />
        </section>
      )}
      {asked.value !== null && (
        <p className="text-xs text-ink-3">The agent suggests what stands in the fields.</p>
      )}
      <SchemaFields
        schema={schema}
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
