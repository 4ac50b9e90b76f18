import { useState } from "react";
import type { Schemas, TaskView } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Field, Select, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { Sure } from "./Sure";

/** Past the guards, to any status; the reason is kept with the move. */
export function ForceDialog({
  view,
  statuses,
  onMove,
  onClose,
}: {
  view: TaskView;
  statuses: Schemas["Status"][];
  onMove: (to: string, reason: string) => void;
  onClose: () => void;
}) {
  const others = statuses.filter((status) => status.id !== view.task.status);
  const [to, setTo] = useState(others[0]?.id ?? "");
  const reason = useDraft(`force:${view.task.id}`, "");
  return (
    <Sure
      title="Move by force"
      action="Move by force"
      disabled={!reason.value.trim() || !to}
      onClose={onClose}
      onSure={() => {
        onMove(to, reason.value.trim());
        reason.forget();
      }}
    >
      <p>
        No guard is asked{view.run ? ", and the agent that is at work is stopped first" : ""}. The
        history says who did it, and why.
      </p>
      <Field label="To">
        {(id) => (
          <Select id={id} className="w-full" value={to} onChange={(e) => setTo(e.target.value)}>
            {others.map((status) => (
              <option key={status.id} value={status.id}>
                {clean(status.title)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Why">
        {(id) => (
          <TextArea
            id={id}
            required
            value={reason.value}
            onChange={(event) => reason.set(event.target.value)}
          />
        )}
      </Field>
    </Sure>
  );
}
