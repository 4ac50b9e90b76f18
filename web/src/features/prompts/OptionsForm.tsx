import { Minus, Plus } from "lucide-react";
import { useRef } from "react";
import { useDraft } from "@/app/drafts";
import { Chip } from "@/kit/Chip";
import { Field, TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import { AnswerFoot } from "./AnswerFoot";
import { type OptionsDraft, OWN, optionsAnswer } from "./answers";
import { Choice, FormFrame, type FormProps, useFormKeys } from "./Form";
import type { ProposedOption } from "./payloads";
import { draftKey } from "./useSender";

const BLANK: OptionsDraft = { option: "", text: "", instructions: "" };

export function OptionsForm({ item, asked, sender, keys }: FormProps<"options">) {
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const own = useRef<HTMLTextAreaElement>(null);
  const set = (part: Partial<OptionsDraft>) => draft.set((before) => ({ ...before, ...part }));
  const answer = optionsAnswer(draft.value);
  const send = () => answer && sender.send(answer);
  const custom = () => {
    set({ option: OWN });
    // The field is there once the choice is.
    requestAnimationFrame(() => own.current?.focus());
  };
  useFormKeys(keys, {
    accept: item.acceptable ? sender.accept : undefined,
    choose: (number) => {
      const option = asked.options[number - 1];
      if (option) set({ option: option.id });
    },
    custom,
    send,
  });
  return (
    <FormFrame
      onSend={send}
      error={sender.error}
      keeper={sender}
      foot={
        <AnswerFoot
          acceptable={!!item.acceptable}
          begun={!!draft.value.option || !!draft.value.instructions}
          keys={keys}
          sender={sender}
          ready={!!answer}
          send={send}
          words="Choose and go on"
        />
      }
    >
      <Markdown text={asked.summary} className="text-[15px]" />
      <fieldset className="grid min-w-0 gap-2">
        <legend className="sr-only">Options</legend>
        {asked.options.map((option, index) => (
          <Choice
            key={option.id}
            name={item.prompt.id}
            number={index + 1}
            checked={draft.value.option === option.id}
            onChoose={() => set({ option: option.id })}
          >
            <Option option={option} />
          </Choice>
        ))}
        <Choice name={item.prompt.id} checked={draft.value.option === OWN} onChoose={custom}>
          <span className="font-medium">Another approach</span>
        </Choice>
        {draft.value.option === OWN && (
          <TextArea
            ref={own}
            aria-label="Describe your approach"
            placeholder="Describe your approach"
            value={draft.value.text}
            onChange={(event) => set({ text: event.target.value })}
          />
        )}
      </fieldset>
      <Field
        label="Extra instructions"
        note="May be left out. The agent gets them with your choice."
      >
        {(id) => (
          <TextArea
            id={id}
            value={draft.value.instructions}
            onChange={(event) => set({ instructions: event.target.value })}
          />
        )}
      </Field>
    </FormFrame>
  );
}

function Option({ option }: { option: ProposedOption }) {
  return (
    <div className="space-y-1.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
        {clean(option.label)}
        {option.recommended && <Chip tone="accent">recommended</Chip>}
        {option.effort && <Chip>{clean(option.effort)} effort</Chip>}
      </p>
      {option.description && <Markdown text={option.description} className="text-ink-2" />}
      {(option.pros?.length || option.cons?.length) && (
        <div className="grid gap-x-6 gap-y-0.5 sm:grid-cols-2">
          <Points
            words="For"
            points={option.pros}
            icon={<Plus size={13} className="text-good" />}
          />
          <Points
            words="Against"
            points={option.cons}
            icon={<Minus size={13} className="text-bad" />}
          />
        </div>
      )}
      {option.tradeoffs && <p className="text-ink-2">{clean(option.tradeoffs)}</p>}
    </div>
  );
}

function Points({
  words,
  points,
  icon,
}: {
  words: string;
  points?: string[];
  icon: React.ReactNode;
}) {
  if (!points?.length) return null;
  return (
    <ul aria-label={words} className="space-y-0.5">
      {points.map((point, index) => (
        <li key={index} className="flex gap-1.5 text-ink-2">
          <span className="mt-1 shrink-0">{icon}</span>
          <span className="min-w-0 wrap-anywhere">{clean(point)}</span>
        </li>
      ))}
    </ul>
  );
}
