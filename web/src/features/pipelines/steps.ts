/** The steps that a simulation can take next, from where it stands. */
import type { Schemas } from "@/api/client";
import { leaving, place, type Shape, type Transition } from "./shape";

export type Step = string | Record<string, unknown>;
export interface Choice {
  label: string;
  step: Step;
}
type Simulation = Schemas["Simulation"];
type Parts = Schemas["Parts"];
type Json = Record<string, unknown>;

export function initial(shape: Shape): string {
  const open = shape.statuses.filter((one) => one.category === "open");
  return [...open].sort((a, b) => a.position - b.position)[0]?.id ?? "";
}

/** The question that is open, if one is. */
export function asked(simulation: Simulation | undefined): Schemas["Asked"] | null {
  for (const decided of [...(simulation?.decisions ?? [])].reverse()) {
    if (decided.asks) return decided.to === simulation?.status ? decided.asks : null;
    if (decided.result !== "refused") return null;
  }
  return null;
}

export function choices(
  shape: Shape,
  simulation: Simulation | undefined,
  script: Step[],
  parts: Parts | undefined,
): Choice[] {
  const fresh = script.length === 0 || script.at(-1) === "new";
  const here = fresh ? initial(shape) : (simulation?.status ?? initial(shape));
  const question = fresh ? null : asked(simulation);
  const ways = leaving(shape, here).map(({ one }) => one);
  const chosen = question?.type === "choice" ? question.choices : [];
  const found = [
    ...chosen.map((id) => ({
      label: `Choose: ${shape.transitions.find((one) => one.id === id)?.title ?? id}`,
      step: { choose: id },
    })),
    ...ways
      .filter((one) => !(chosen.includes(one.id) && one.trigger.type === "manual"))
      .flatMap((one) => ofTransition(shape, one, question, script, parts)),
  ];
  return [...new Map(found.map((one) => [JSON.stringify(one.step), one])).values()];
}

function ofTransition(
  shape: Shape,
  one: Transition,
  question: Schemas["Asked"] | null,
  script: Step[],
  parts: Parts | undefined,
): Choice[] {
  switch (one.trigger.type) {
    case "manual":
      return [{ label: byHand(shape, one), step: { move: one.to } }];
    case "agent_outcome": {
      const name = one.trigger.outcome ?? "";
      return [{ label: `Agent: ${name.replaceAll("_", " ")}`, step: outcome(name, parts) }];
    }
    case "agent_error":
      return [{ label: "Agent: fails", step: { error: "crash" } }];
    case "review_submitted":
      return [
        { label: "Review: approved", step: { review: "approved" } },
        { label: "Review: changes requested", step: { review: "changes_requested" } },
      ];
    case "prompt_response":
      return answers(question, lastOutcome(script), parts);
    default:
      return [];
  }
}

function byHand(shape: Shape, one: Transition): string {
  const to = place(shape, one.to);
  return one.title === `to ${one.to}` ? `By hand: to ${to}` : `By hand: ${one.title} (${to})`;
}

function outcome(name: string, parts: Parts | undefined): Step {
  const part = parts?.outcomes.find((one) => one.name === name);
  if (!part?.payload_required || !part.payload) return { outcome: name };
  return { outcome: { name, payload: sample(part.payload) } };
}

interface Outcome {
  name: string;
  payload: Json;
}

/** What the agent asked with. */
function lastOutcome(script: Step[]): Outcome {
  for (const step of [...script].reverse()) {
    const given = typeof step === "string" ? undefined : step.outcome;
    if (given === undefined) continue;
    const { name, payload } = typeof given === "object" ? (given as Json) : { name: given };
    return { name: String(name), payload: (payload ?? {}) as Json };
  }
  return { name: "", payload: {} };
}

function answers(
  question: Schemas["Asked"] | null,
  { name, payload }: Outcome,
  parts: Parts | undefined,
): Choice[] {
  const form = parts?.outcomes.find((one) => one.name === name)?.answer;
  if (form && question?.type === "info_request")
    return [{ label: "Fill in the form", step: { answer: { value: sample(form) } } }];
  if (question?.type === "split_proposal")
    return [
      { label: "Answer: split it", step: { answer: { decision: "approved" } } },
      {
        label: "Answer: do not split it",
        step: { answer: { decision: "rejected", reason: "Not needed." } },
      },
    ];
  const options = payload.options as Json[] | undefined;
  if (!payload.questions && options?.some((one) => typeof one === "object"))
    return options.map((one) => ({
      label: `Answer: ${String(one.label ?? one.id)}`,
      step: { answer: { option_id: one.id } },
    }));
  const questions = (payload.questions ?? [{ id: "q1", options }]) as Json[];
  return [
    {
      label: "Answer the question",
      step: {
        answer: {
          answers: questions.map((one) => ({
            question_id: one.id,
            ...((one.options as unknown[] | undefined)?.length ? { option: 0 } : { text: "Yes." }),
          })),
        },
      },
    },
  ];
}

/** The least that fits a JSON Schema: what it requires, and no more. */
export function sample(schema: Json, root: Json = schema, name = "", index = 0): unknown {
  const target = resolved(schema, root);
  if ("const" in target) return target.const;
  if ("default" in target) return target.default;
  if (Array.isArray(target.enum)) return target.enum[0];
  const variants = (target.anyOf ?? target.oneOf) as Json[] | undefined;
  if (variants?.[0]) return sample(variants[0], root, name, index);
  const type = Array.isArray(target.type) ? target.type[0] : target.type;
  switch (type) {
    case "array": {
      const least = Math.max(1, Number(target.minItems ?? 0));
      const item = (target.items ?? {}) as Json;
      return Array.from({ length: least }, (_, at) => sample(item, root, name, at));
    }
    case "integer":
    case "number":
      return Number(target.minimum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    case "string":
      return name === "id" ? "abcdefghij"[index % 10] : `Some ${name.replaceAll("_", " ")}`.trim();
    default: {
      const properties = (target.properties ?? {}) as Record<string, Json>;
      const required = (target.required ?? []) as string[];
      return Object.fromEntries(
        required.map((key) => [key, sample(properties[key] ?? {}, root, key, index)]),
      );
    }
  }
}

function resolved(schema: Json, root: Json): Json {
  const reference = typeof schema.$ref === "string" ? schema.$ref : null;
  if (!reference?.startsWith("#/")) return schema;
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) found = (found as Json | undefined)?.[part];
  return (found ?? {}) as Json;
}
