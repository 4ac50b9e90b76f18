import { Sparkles } from "lucide-react";
import { useRef } from "react";
import { useDraft } from "@/app/drafts";
import { Chip } from "@/kit/Chip";
import { TextArea } from "@/kit/Field";
import { Markdown } from "@/kit/Markdown";
import { clean } from "@/kit/text";
import { AnswerFoot } from "./AnswerFoot";
import {
  isAnswered,
  type QuestionDraft,
  type QuestionsDraft,
  questionsAnswer,
  shape,
  suggestion,
} from "./answers";
import { Choice, FormFrame, type FormProps, useFormKeys } from "./Form";
import type { Question } from "./payloads";
import { draftKey } from "./useSender";

const BLANK: QuestionsDraft = {};

export function QuestionsForm({ item, asked, sender, keys }: FormProps<"questions">) {
  const { questions } = asked;
  const draft = useDraft(draftKey(item.prompt.id), BLANK);
  const parts = useRef<Record<string, HTMLElement | null>>({});
  const answer = questionsAnswer(questions, draft.value);
  const open = questions.filter((one) => !isAnswered(draft.value[one.id]));
  const set = (id: string, part: QuestionDraft) =>
    draft.set((before) => ({ ...before, [id]: { ...before[id], ...part } }));
  const send = () => {
    if (answer) sender.send(answer);
    else focusIn(parts.current[open[0]?.id ?? ""]);
  };
  /** The question that keys are for: where the focus is, or the first without an answer. */
  const current = (): Question => {
    const focused = questions.find((one) =>
      parts.current[one.id]?.contains(document.activeElement),
    );
    return focused ?? open[0] ?? (questions[0] as Question);
  };
  useFormKeys(keys, {
    accept: item.acceptable ? sender.accept : undefined,
    choose: (number) => {
      const question = current();
      const option = choices(question)[number - 1];
      if (option) set(question.id, option.part);
    },
    custom: () => focusIn(parts.current[current().id], "textarea"),
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
          begun={draft.kept}
          keys={keys}
          sender={sender}
          ready={!!answer}
          send={send}
          words={questions.length > 1 ? "Send answers" : "Send answer"}
        >
          {open.length > 0 && questions.length > 1 && draft.kept && (
            <span className="text-xs text-ink-3" aria-live="polite">
              {open.length} of {questions.length} open
            </span>
          )}
        </AnswerFoot>
      }
    >
      {questions.map((question, index) => (
        <fieldset
          key={question.id}
          ref={(element) => {
            parts.current[question.id] = element;
          }}
          className="min-w-0 space-y-2.5"
        >
          <legend className="text-[15px] font-medium wrap-anywhere">
            {questions.length > 1 && <span className="text-ink-3">{index + 1}. </span>}
            {clean(question.question)}
          </legend>
          {(question.category === "escalation" || question.category === "scope_approval") && (
            <Chip tone="warn">
              {question.category === "escalation" ? "The agent is stuck" : "More than expected"}
            </Chip>
          )}
          {question.context && <Markdown text={question.context} className="text-ink-2" />}
          <Ask
            question={question}
            value={draft.value[question.id] ?? {}}
            onChange={(part) => set(question.id, part)}
          />
        </fieldset>
      ))}
    </FormFrame>
  );
}

interface Way {
  label: string;
  description?: string | null;
  recommended?: boolean;
  part: QuestionDraft;
}

/** What can be chosen of a question; choosing an option keeps the words beside it. */
function choices(question: Question): Way[] {
  switch (shape(question)) {
    case "choice":
      return (question.options ?? []).map((one) => ({ ...one, part: { option: one.label } }));
    case "boolean": {
      const suggested = suggestion(question)?.text;
      return ["yes", "no"].map((text) => ({
        label: text === "yes" ? "Yes" : "No",
        recommended: suggested === text,
        part: { text },
      }));
    }
    default:
      return [];
  }
}

function Ask({
  question,
  value,
  onChange,
}: {
  question: Question;
  value: QuestionDraft;
  onChange: (part: QuestionDraft) => void;
}) {
  const kind = shape(question);
  const ways = choices(question);
  const suggested = suggestion(question);
  const words = question.input_type !== "boolean";
  return (
    <>
      {ways.length > 0 && (
        <div className={kind === "boolean" ? "grid grid-cols-2 gap-2 sm:max-w-xs" : "grid gap-2"}>
          {ways.map((way, index) => (
            <Choice
              key={way.label}
              name={question.id}
              number={index + 1}
              checked={
                way.part.option !== undefined
                  ? value.option === way.part.option
                  : value.option === undefined && value.text === way.part.text
              }
              onChoose={() => onChange(way.part)}
            >
              <span className="font-medium">{clean(way.label)}</span>
              {way.recommended && (
                <Chip tone="accent" className="ml-2">
                  recommended
                </Chip>
              )}
              {way.description && <p className="mt-0.5 text-ink-2">{clean(way.description)}</p>}
            </Choice>
          ))}
          {kind === "choice" && words && (
            <Choice
              name={question.id}
              checked={value.option === undefined && value.text !== undefined}
              onChoose={() => onChange({ option: undefined, text: value.text ?? "" })}
            >
              <span className="font-medium">Something else</span>
            </Choice>
          )}
        </div>
      )}
      {suggested?.text !== undefined && kind !== "boolean" && value.text !== suggested.text && (
        <button
          type="button"
          onClick={() => onChange({ text: suggested.text })}
          className="flex max-w-full items-center gap-1.5 rounded-full bg-accent-soft px-3 py-1 text-left text-xs text-accent-text hover:brightness-95 max-sm:min-h-11"
        >
          <Sparkles size={13} className="shrink-0" />
          <span className="min-w-0 wrap-anywhere">
            Use the suggestion: <strong>{clean(suggested.text)}</strong>
          </span>
        </button>
      )}
      {words && (kind === "text" || value.option !== undefined || value.text !== undefined) && (
        <TextArea
          aria-label={
            value.option !== undefined
              ? `Add to: ${clean(question.question)}`
              : clean(question.question)
          }
          placeholder={
            value.option !== undefined ? "Add something (may be left out)" : "Your answer"
          }
          value={value.text ?? ""}
          onChange={(event) => onChange({ text: event.target.value })}
        />
      )}
    </>
  );
}

function focusIn(part: HTMLElement | null | undefined, what = "textarea, input") {
  const found =
    part?.querySelector<HTMLElement>(what) ??
    part?.querySelector<HTMLElement>("input:last-of-type");
  found?.focus();
}
