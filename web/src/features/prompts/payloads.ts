/** What prompts carry, as `domain/payload.py` and `domain/prompt.py` write it. */
import type { Prompt, Schemas } from "@/api/client";
import type { JsonSchema } from "./schema";

export interface QuestionOption {
  label: string;
  description?: string | null;
  recommended?: boolean;
}
export interface Question {
  id: string;
  question: string;
  context?: string | null;
  category?: string | null;
  input_type?: "text" | "choice" | "boolean";
  options?: QuestionOption[];
  suggested_answer?: string | null;
  default_after_s?: number | null;
}
/** What can be chosen when a task cannot continue without a person. */
export interface WayOn {
  id: string;
  label: string;
  /** What happens if it is chosen, where the label does not say it. */
  detail?: string;
}
export interface ProposedOption {
  id: string;
  label: string;
  description?: string;
  pros?: string[];
  cons?: string[];
  effort?: string | null;
  tradeoffs?: string | null;
  recommended?: boolean;
}
export type Severity = "must_fix" | "should_fix" | "suggestion";
export interface Comment {
  id?: string;
  file?: string | null;
  line?: number | null;
  severity: Severity;
  comment: string;
}
export interface AgentReview {
  decision: string;
  summary?: string | null;
  comments?: Comment[];
}
export interface Phase {
  name: string;
  description: string;
  complexity: "low" | "medium" | "high";
}

export interface Budget {
  scope: string;
  name: string;
  limit_usd: number;
  granted_usd: number;
  spent_usd: number;
  /** Runs whose cost is unknown. */
  unknown: number;
}

export type Asked =
  | { kind: "questions"; questions: Question[] }
  | { kind: "options"; summary: string; options: ProposedOption[] }
  | { kind: "review"; work: Work; review: AgentReview | null }
  | { kind: "document"; title: string; document: string; version?: number; artifact_id?: string }
  | { kind: "split"; reason: string; phases: Phase[] }
  | { kind: "choice"; reason: string; evidence: string; choices: WayOn[] }
  | { kind: "permission"; tool: string; action: string; reason: string }
  | { kind: "budget"; budget: Budget }
  | { kind: "form"; title: string; reported: Payload; schema: JsonSchema; value: Payload | null }
  | { kind: "unknown" };

export interface Work {
  files?: number;
  additions?: number;
  deletions?: number;
  branch?: string;
  base?: string;
  checks_passed?: boolean | null;
  warnings?: string[];
  policy?: string[];
}

type Payload = Record<string, unknown>;

/** The question behind a prompt; what this page does not know is `unknown`, never a crash. */
export function asked(prompt: Pick<Prompt, "payload"> & { type: string }): Asked {
  const payload = prompt.payload as Payload;
  switch (prompt.type) {
    case "info_request":
      if (payload.schema && typeof payload.schema === "object")
        return {
          kind: "form",
          title: String(payload.title ?? ""),
          reported: (payload.reported ?? {}) as Payload,
          schema: payload.schema as JsonSchema,
          value: (payload.value ?? null) as Payload | null,
        };
      return Array.isArray(payload.questions)
        ? { kind: "questions", questions: payload.questions as Question[] }
        : {
            kind: "options",
            summary: String(payload.summary ?? ""),
            options: list<ProposedOption>(payload.options),
          };
    case "review":
      return {
        kind: "review",
        work: payload as Work,
        review: (payload.review as AgentReview | undefined) ?? null,
      };
    case "document_review":
      return {
        kind: "document",
        title: String(payload.title ?? "Document"),
        document: String(payload.document ?? ""),
        version: payload.version as number | undefined,
        artifact_id: (payload.artifact_id as string | null) ?? undefined,
      };
    case "split_proposal":
      return {
        kind: "split",
        reason: String(payload.reason ?? ""),
        phases: list<Phase>(payload.proposed_phases),
      };
    case "choice":
      return {
        kind: "choice",
        reason: String(payload.reason ?? ""),
        evidence: String(payload.evidence ?? ""),
        choices: list<WayOn>(payload.choices),
      };
    case "permission":
      return {
        kind: "permission",
        tool: String(payload.tool ?? ""),
        action: String(payload.action ?? ""),
        reason: String(payload.reason ?? ""),
      };
    case "budget":
      return { kind: "budget", budget: payload as unknown as Budget };
    default:
      return { kind: "unknown" };
  }
}

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

/** Whether an agent reviewed the work and wants it changed. */
export const objects = (review: AgentReview | null) => review?.decision === "changes_requested";

export interface Kind {
  id: string;
  label: string;
  many: string;
}
const KINDS: Record<string, Kind> = {
  questions: { id: "questions", label: "Question", many: "Questions" },
  options: { id: "options", label: "Options", many: "Options" },
  review: { id: "review", label: "Review", many: "Reviews" },
  changes: { id: "changes", label: "Changes wanted", many: "Changes wanted" },
  document: { id: "document", label: "Document", many: "Documents" },
  split: { id: "split", label: "Split", many: "Splits" },
  choice: { id: "choice", label: "Decision", many: "Decisions" },
  permission: { id: "permission", label: "Permission", many: "Permissions" },
  budget: { id: "budget", label: "Budget", many: "Budgets" },
  form: { id: "form", label: "Form", many: "Forms" },
  unknown: { id: "unknown", label: "Other", many: "Other" },
};

/** What people call such a question. */
export function kindOf(prompt: Schemas["Prompt"]): Kind {
  const found = asked(prompt);
  const id = found.kind === "review" && objects(found.review) ? "changes" : found.kind;
  return KINDS[id] as Kind;
}
