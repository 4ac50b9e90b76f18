import { Check } from "lucide-react";
import { useMemo } from "react";
import { ApiError } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
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
  const accepts = !!item.acceptable && !draft.kept;
  const reported = rows(asked.reported);
  return (
    <FormFrame
      onSend={send}
      // What belongs to a field is told there.
      error={sender.error && general(sender.error, faults)}
      foot={
        <>
          {item.acceptable && (
            <Button
              look={accepts ? "primary" : "plain"}
              hint={keys ? "a" : undefined}
              disabled={sender.busy}
              onClick={sender.accept}
            >
              <Check size={15} /> Accept recommended
            </Button>
          )}
          <Button
            look={accepts ? "plain" : "primary"}
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
