/** From what was typed to what is sent, for each kind of question. Null: not complete yet. */
import type { Budget, Comment, Phase, Question } from "./payloads";

export type Answer = Record<string, unknown>;

export interface QuestionDraft {
  option?: string;
  text?: string;
}
export type QuestionsDraft = Record<string, QuestionDraft>;

/** How a question is asked: its options, two buttons, or words. */
export function shape(question: Question): "choice" | "boolean" | "text" {
  if (question.options?.length) return "choice";
  return question.input_type === "boolean" ? "boolean" : "text";
}

export function isAnswered(draft: QuestionDraft | undefined): boolean {
  return !!draft && (draft.option !== undefined || !!draft.text?.trim());
}

export function questionsAnswer(questions: Question[], draft: QuestionsDraft): Answer | null {
  if (!questions.every((one) => isAnswered(draft[one.id]))) return null;
  return {
    answers: questions.map((one) => {
      const { option, text } = draft[one.id] as QuestionDraft;
      return { question_id: one.id, option: option ?? null, text: text?.trim() || null };
    }),
  };
}

/** The answer that the agent would take. */
export function suggestion(question: Question): QuestionDraft | null {
  const option = question.options?.find((one) => one.recommended)?.label;
  if (option !== undefined) return { option };
  const text = question.suggested_answer?.trim();
  if (!text) return null;
  if (shape(question) !== "boolean") return { text };
  const said = { yes: "yes", true: "yes", no: "no", false: "no" }[text.toLowerCase()];
  return said ? { text: said } : null;
}

export const OWN = "\0own";
export interface OptionsDraft {
  option: string;
  text: string;
  instructions: string;
}

export function optionsAnswer(draft: OptionsDraft): Answer | null {
  const own = draft.option === OWN;
  const text = draft.text.trim();
  if (own ? !text : !draft.option) return null;
  return {
    option_id: own ? null : draft.option,
    text: own ? text : null,
    instructions: draft.instructions.trim() || null,
  };
}

export type Decision = "approved" | "changes_requested";

export function reviewAnswer(
  decision: Decision,
  summary: string,
  agentObjects: boolean,
): Answer | null {
  const said = summary.trim();
  if (decision === "changes_requested" && !said && !agentObjects) return null;
  return { decision, summary: said || null };
}

export interface DocumentDraft {
  summary: string;
  /** By the line at which the paragraph begins. */
  comments: Record<number, string>;
}
export interface Paragraph {
  line: number;
  text: string;
}

export function documentAnswer(
  decision: Decision,
  draft: DocumentDraft,
  paragraphs: Paragraph[],
  artifact?: string,
): Answer | null {
  const severity = decision === "approved" ? "suggestion" : "must_fix";
  const comments: Comment[] = paragraphs.flatMap(({ line }) => {
    const said = draft.comments[line]?.trim();
    return said ? [{ line, severity, comment: said }] : [];
  });
  const summary = draft.summary.trim();
  if (decision === "changes_requested" && !summary && comments.length === 0) return null;
  return {
    decision,
    summary: summary || null,
    comments,
    ...(artifact ? { artifact_id: artifact } : {}),
  };
}

/** The blocks of a Markdown text that blank lines part, code in fences kept together. */
export function paragraphsOf(text: string): Paragraph[] {
  const found: Paragraph[] = [];
  let block: string[] = [];
  let start = 1;
  let fence: string | null = null;
  const end = () => {
    if (block.some((line) => line.trim())) found.push({ line: start, text: block.join("\n") });
    block = [];
  };
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && !line.trim()) {
      end();
      continue;
    }
    if (block.length === 0) start = index + 1;
    block.push(line);
    if (mark && fence === null) fence = mark;
    else if (mark && fence !== null && mark.startsWith(fence) && line.trim() === mark) fence = null;
  }
  end();
  return joined(found);
}

/** Indented lines go on with the list item above the blank line. */
function joined(blocks: Paragraph[]): Paragraph[] {
  const found: Paragraph[] = [];
  for (const block of blocks) {
    const last = found.at(-1);
    if (last && /^( {2,}|\t)/.test(block.text) && /^\s*([-*+]|\d+[.)]) /.test(last.text))
      found[found.length - 1] = { ...last, text: `${last.text}\n\n${block.text}` };
    else found.push(block);
  }
  return found;
}

export interface SplitDraft {
  /** Null: as the agent proposed it. */
  phases: Phase[] | null;
  reason: string;
}

export function splitAnswer(decision: "approved" | "rejected", draft: SplitDraft): Answer | null {
  const reason = draft.reason.trim();
  if (decision === "rejected") return reason ? { decision, reason } : null;
  if (draft.phases === null) return { decision };
  const phases = draft.phases.map((phase) => ({ ...phase, name: phase.name.trim() }));
  return phases.length > 0 && phases.every((phase) => phase.name) ? { decision, phases } : null;
}

export function moved<T>(list: T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  const one = list[from];
  if (one === undefined || to < 0 || to >= list.length) return list;
  return [...rest.slice(0, to), one, ...rest.slice(to)];
}

export function choiceAnswer(choice: string, text: string): Answer | null {
  return choice ? { choice_id: choice, text: text.trim() || null } : null;
}

export type Scope = "once" | "run" | "project";
export const permissionAnswer = (allow: boolean, scope: Scope = "once"): Answer => ({
  allow,
  scope,
});

export function budgetAnswer(usd: string): Answer | null {
  const given = Number(usd);
  return usd.trim() && Number.isFinite(given) && given > 0
    ? { decision: "grant", usd: given }
    : null;
}

/** Amounts that leave something to spend: what is over, and half, once or twice the budget. */
export function budgetSteps({ limit_usd, granted_usd, spent_usd }: Budget): number[] {
  const over = Math.max(0, spent_usd - limit_usd);
  const begun = limit_usd - granted_usd;
  const steps = [0.5, 1, 2].map((times) => Math.round((over + begun * times) * 100) / 100);
  return [...new Set(steps)].filter((usd) => usd > over);
}
