import { useRef } from "react";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { Field, TextArea } from "@/kit/Field";
import { clean, shortened } from "@/kit/text";
import { choiceAnswer } from "./answers";
import { Choice, FormFrame, type FormProps, useFormKeys } from "./Form";
import { draftKey } from "./useSender";

const BLANK = { choice: "", text: "" };

export function ChoiceForm({ item, asked, sender, keys }: FormProps<"choice">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const words = useRef<HTMLTextAreaElement>(null);
  const answer = choiceAnswer(draft.value.choice, draft.value.text);
  const chosen = asked.choices.find((one) => one.id === draft.value.choice);
  const set = (part: Partial<typeof BLANK>) => draft.set((before) => ({ ...before, ...part }));
  const send = () => answer && sender.send(answer);
  useFormKeys(keys, {
    choose: (number) => {
      const choice = asked.choices[number - 1];
      if (choice) set({ choice: choice.id });
    },
    custom: () => words.current?.focus(),
    send,
  });
  const evidence = shortened(clean(asked.evidence));
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      foot={
        <Button look="primary" hint="Ctrl+Enter" disabled={sender.busy || !answer} onClick={send}>
          {chosen ? clean(chosen.label) : "Choose an answer"}
        </Button>
      }
    >
      <p className="text-[15px] whitespace-pre-wrap wrap-anywhere">{clean(asked.reason)}</p>
      {evidence.text && (
        <pre
          // Long lines scroll, so a keyboard must get there.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls
          tabIndex={0}
          className="max-h-72 overflow-auto rounded-lg border bg-sunken p-3 font-mono text-xs"
        >
          {evidence.text}
          {evidence.cut > 0 && `\n… ${evidence.cut} more characters are not shown.`}
        </pre>
      )}
      <fieldset className="grid min-w-0 gap-2">
        <legend className="mb-2 font-medium">What should happen next?</legend>
        {asked.choices.map((choice, index) => (
          <Choice
            key={choice.id}
            name={item.prompt.id}
            number={index + 1}
            checked={draft.value.choice === choice.id}
            onChoose={() => set({ choice: choice.id })}
          >
            {clean(choice.label)}
            {choice.detail && <span className="block text-ink-2">{clean(choice.detail)}</span>}
          </Choice>
        ))}
      </fieldset>
      <Field label="Note" note="May be left out. It is kept with your answer.">
        {(id) => (
          <TextArea
            id={id}
            ref={words}
            value={draft.value.text}
            onChange={(event) => set({ text: event.target.value })}
          />
        )}
      </Field>
    </FormFrame>
  );
}
