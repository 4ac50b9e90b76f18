import { useRef } from "react";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Field, Input } from "@/kit/Field";
import { clean, money, plural } from "@/kit/text";
import { budgetAnswer, budgetSteps } from "./answers";
import { FormFrame, type FormProps, useFormKeys } from "./Form";
import type { Budget } from "./payloads";
import { draftKey } from "./useSender";

const BLANK = { usd: "" };

export function BudgetForm({ item, asked, sender, keys }: FormProps<"budget">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const field = useRef<HTMLInputElement>(null);
  const steps = budgetSteps(asked.budget);
  const grant = budgetAnswer(draft.value.usd);
  const choose = (usd: number) => draft.set({ usd: String(usd) });
  const send = () => (grant ? sender.send(grant) : field.current?.focus());
  useFormKeys(keys, {
    choose: (number) => {
      const step = steps[number - 1];
      if (step) choose(step);
    },
    custom: () => field.current?.focus(),
    send,
  });
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      foot={
        <>
          <Button look="primary" hint="Ctrl+Enter" disabled={sender.busy || !grant} onClick={send}>
            {grant ? `Grant ${money(grant.usd as number)} more` : "Grant more"}
          </Button>
          <Button
            look="danger"
            disabled={sender.busy}
            onClick={() => sender.send({ decision: "stop" })}
          >
            Stop here
          </Button>
        </>
      }
    >
      <Spent budget={asked.budget} />
      <Field label="How many dollars more may be spent?" note="Nothing is granted by itself.">
        {(id) => (
          <div className="flex flex-wrap items-center gap-2">
            <Input
              id={id}
              ref={field}
              type="number"
              inputMode="decimal"
              min={0}
              step="any"
              className="w-32"
              value={draft.value.usd}
              onChange={(event) => draft.set({ usd: event.target.value })}
            />
            {steps.map((usd, index) => (
              <Button
                key={usd}
                hint={keys ? String(index + 1) : undefined}
                onClick={() => choose(usd)}
              >
                {money(usd)}
              </Button>
            ))}
          </div>
        )}
      </Field>
    </FormFrame>
  );
}

const SCOPES: Record<string, string> = {
  run: "This run",
  task: "This task",
  project: "The project",
  day: "This day",
};

function Spent({ budget }: { budget: Budget }) {
  const name = budget.scope === "project" || budget.scope === "day" ? ` ${clean(budget.name)}` : "";
  return (
    <div className="space-y-2">
      <p className="text-[15px] wrap-anywhere">
        {SCOPES[budget.scope] ?? clean(budget.scope)}
        {name} has spent <strong>{money(budget.spent_usd)}</strong> of its budget of{" "}
        <strong>{money(budget.limit_usd)}</strong>
        {budget.granted_usd > 0 && ` (${money(budget.granted_usd)} of it granted before)`}.
      </p>
      <div className="h-2 overflow-hidden rounded-full bg-sunken" aria-hidden>
        <div className="h-full w-full bg-bad" />
      </div>
      {budget.unknown > 0 && (
        <p className="text-warn">
          What {plural(budget.unknown, "run")} cost is unknown, and not in that sum.
        </p>
      )}
    </div>
  );
}
