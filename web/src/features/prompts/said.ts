/** What an answer says, in lines for people: given ones, and drafts that were not sent. */
import { money } from "@/kit/text";
import type { Answer } from "./answers";
import { type Asked, type Comment, objects, type Phase } from "./payloads";
import { rows as rowsOf } from "./schema";

export interface Line {
  label?: string;
  text: string;
}

const SCOPES: Record<string, string> = {
  once: "once",
  run: "for the whole run",
  project: "for the project, from now on",
};

function placeOf({ file, line }: Comment): string | undefined {
  if (!file) return line ? `Line ${line}` : undefined;
  return line ? `${file}:${line}` : file;
}

export function said(asked: Asked, answer: Answer): Line[] {
  switch (asked.kind) {
    case "questions":
      return rows<{ question_id: string; option?: unknown; text?: unknown }>(answer.answers).map(
        (one) => ({
          label: asked.questions.find((q) => q.id === one.question_id)?.question ?? one.question_id,
          text: [one.option, one.text].filter((part) => part || part === 0).join(" — "),
        }),
      );
    case "options":
      return [
        ...(answer.option_id
          ? [{ text: labelOf(asked.options, answer.option_id as string) }]
          : lines("Own approach", answer.text)),
        ...lines("Instructions", answer.instructions),
      ];
    case "review":
    case "document":
      return [
        {
          text:
            answer.decision !== "approved"
              ? "Sent back for changes"
              : asked.kind === "review" && objects(asked.review)
                ? "Approved anyway"
                : "Approved",
        },
        ...lines("", answer.summary),
        ...rows<Comment>(answer.comments).map((one) => ({
          label: placeOf(one),
          text: one.comment,
        })),
      ];
    case "split":
      return [
        { text: answer.decision === "approved" ? "Approved the split" : "Rejected the split" },
        ...lines("Reason", answer.reason),
        ...rows<Phase>(answer.phases).map((phase, index) => ({
          label: `Phase ${index + 1}`,
          text: phase.name,
        })),
      ];
    case "choice":
      return [
        { text: labelOf(asked.choices, answer.choice_id as string) },
        ...lines("Note", answer.text),
      ];
    case "permission":
      return [
        { text: answer.allow ? `Allowed ${SCOPES[String(answer.scope)] ?? ""}` : "Not allowed" },
      ];
    case "budget":
      return [
        {
          text:
            answer.decision === "grant"
              ? `Granted ${money(answer.usd as number)} more`
              : "Left it stopped",
        },
      ];
    case "form":
      return rowsOf(answer.value, asked.schema);
    default:
      return [{ text: JSON.stringify(answer, null, 2) }];
  }
}

const lines = (label: string, text: unknown): Line[] =>
  typeof text === "string" && text ? [{ label: label || undefined, text }] : [];

const labelOf = (options: { id: string; label: string }[], id: string) =>
  options.find((one) => one.id === id)?.label ?? id;

function rows<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

/** What was typed and not sent, as far as it goes. */
export function unsent(asked: Asked, draft: Record<string, unknown>): Line[] {
  const text = (value: unknown) => (typeof value === "string" ? value.trim() : "");
  switch (asked.kind) {
    case "questions": {
      const answers = asked.questions.map((one) => ({
        question_id: one.id,
        ...(draft[one.id] as object | undefined),
      }));
      return said(asked, { answers }).filter((line) => line.text);
    }
    case "document":
      return [
        ...lines("", text(draft.summary)),
        ...Object.entries((draft.comments ?? {}) as Record<string, string>)
          .filter(([, comment]) => text(comment))
          .map(([line, comment]) => ({ label: `Line ${line}`, text: comment })),
      ];
    case "form":
      return draft.value === undefined ? [] : said(asked, draft).filter((line) => line.text.trim());
    default:
      return Object.values(draft).flatMap((value) => lines("", text(value).replace("\0own", "")));
  }
}
