import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Check, CornerUpLeft, MoveRight, RotateCcw, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { type ApiError, api, data, type Schemas } from "@/api/client";
import { useDraft } from "@/app/drafts";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Select, TextArea } from "@/kit/Field";
import { clean } from "@/kit/text";
import { readJson } from "./jsonText";
import { type Lit, pathOfDecisions } from "./path";
import { place, type Shape } from "./shape";
import { choices, initial, type Step } from "./steps";

const NO_STEPS: Step[] = [];

/** A pipeline is walked step by step: what can happen next is offered, each decision is told. */
export function Simulate({
  shape,
  form,
  parts,
  onPath,
}: {
  shape: Shape;
  /** The pipeline that is meant: one that is saved, or a document. */
  form: Schemas["PipelineForm"];
  parts: Schemas["Parts"] | undefined;
  onPath: (lit: Lit | null) => void;
}) {
  const draft = useDraft<Step[]>(`simulate:${shape.id}`, NO_STEPS);
  const script = draft.value;
  const [upTo, setUpTo] = useState<number | null>(null);
  const [asText, setAsText] = useState(false);
  const walked = useQuery({
    queryKey: ["simulate", form, script],
    queryFn: () => data(api.POST("/api/v1/pipelines/simulate", { body: { ...form, script } })),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  const decisions = useMemo(() => walked.data?.decisions ?? [], [walked.data]);
  const begins = initial(shape);
  useEffect(() => {
    onPath(pathOfDecisions(begins, upTo === null ? decisions : decisions.slice(0, upTo + 1)));
  }, [begins, decisions, upTo, onPath]);
  useEffect(() => () => onPath(null), [onPath]);
  const set = (next: Step[]) => {
    setUpTo(null);
    draft.set(next);
  };
  const add = (step: Step) => set([...script, step]);
  const hooks = [...new Set(shape.transitions.flatMap((one) => one.hooks.map((h) => h.type)))];
  const error = walked.error as ApiError | null;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 border-b px-3 py-1.5">
        <p role="status" className="min-w-0 flex-1 text-ink-2">
          {walked.data && (
            <>
              <span className="font-medium text-ink">
                {clean(place(shape, walked.data.status))}
              </span>
              . {clean(walked.data.waits_for)}
            </>
          )}
        </p>
        <Button size="small" look="quiet" onClick={() => setAsText(!asText)}>
          {asText ? "As steps" : "As JSON"}
        </Button>
        <Button
          size="small"
          look="quiet"
          disabled={script.length === 0}
          onClick={() => {
            draft.forget();
            setUpTo(null);
          }}
        >
          <RotateCcw size={13} /> Start over
        </Button>
      </div>
      {error && (
        <p role="alert" className="border-b bg-bad-soft px-3 py-2 text-bad">
          {clean([error.message, ...(error.details ?? [])].join(" "))}
        </p>
      )}
      <div className="min-h-0 flex-1 overflow-y-auto p-3">
        {asText ? (
          <ScriptText script={script} onChange={set} />
        ) : script.length === 0 ? (
          <p className="text-ink-2">
            Nothing is started and nothing is spent. Say what happens first, then what happens next;
            hooks succeed unless you let one fail.
          </p>
        ) : (
          <ol className="space-y-3">
            {script.map((step, at) => (
              <li key={at}>
                <div className="flex items-center gap-2">
                  <span className="grid size-5 shrink-0 place-items-center rounded-full bg-sunken text-[11px] tabular-nums">
                    {at + 1}
                  </span>
                  <code className="min-w-0 flex-1 truncate font-mono text-xs" title={told(step)}>
                    {told(step)}
                  </code>
                  <Button
                    size="icon"
                    look="quiet"
                    className="size-6"
                    aria-label={`Take step ${at + 1} out`}
                    onClick={() => set(script.filter((_, other) => other !== at))}
                  >
                    <X size={13} />
                  </Button>
                </div>
                {decisions.map(
                  (decided, index) =>
                    decided.step === at + 1 && (
                      <Decision
                        key={index}
                        decided={decided}
                        shape={shape}
                        chosen={upTo === index}
                        onClick={() => setUpTo(upTo === index ? null : index)}
                      />
                    ),
                )}
              </li>
            ))}
          </ol>
        )}
      </div>
      {!asText && (
        <div className="max-h-[45%] shrink-0 space-y-2 overflow-y-auto border-t bg-sunken p-3">
          <h2 className="text-xs font-semibold text-ink-3">What happens next</h2>
          <div className="flex flex-wrap gap-1.5">
            {choices(shape, walked.data, script, parts).map((choice) => (
              <Button key={choice.label} size="small" onClick={() => add(choice.step)}>
                {clean(choice.label)}
              </Button>
            ))}
            {walked.data?.finished && script.at(-1) !== "new" && (
              <Button size="small" onClick={() => add("new")}>
                Another task
              </Button>
            )}
          </div>
          <Select
            aria-label="Let a hook fail the next time"
            className="h-7 text-xs"
            value=""
            onChange={(event) => add({ fail: event.target.value })}
          >
            <option value="">Let a hook fail the next time…</option>
            {hooks.map((hook) => (
              <option key={hook} value={hook}>
                {hook}
              </option>
            ))}
          </Select>
        </div>
      )}
    </div>
  );
}

const told = (step: Step) => clean(typeof step === "string" ? step : JSON.stringify(step));

const SAYS: Record<Schemas["Result"], string> = {
  done: "",
  forced: "Forced.",
  refused: "Refused; the task stays.",
  rolled_back: "Taken back.",
  granted: "More rounds are granted.",
};

function Decision({
  decided,
  shape,
  chosen,
  onClick,
}: {
  decided: Schemas["Decided"];
  shape: Shape;
  chosen: boolean;
  onClick: () => void;
}) {
  const refused = decided.result === "refused";
  return (
    <button
      type="button"
      aria-pressed={chosen}
      title="Show the walk up to here"
      onClick={onClick}
      className={cx(
        "mt-1 ml-7 block w-[calc(100%-1.75rem)] space-y-0.5 rounded-lg border px-2.5 py-1.5 text-left text-xs hover:bg-hover",
        chosen && "border-accent bg-accent-soft",
        refused && "border-bad/40",
      )}
    >
      {decided.from === decided.to ? (
        <span className={cx("block font-medium", refused && "text-bad")}>
          {SAYS[decided.result] || clean(decided.by)}
        </span>
      ) : (
        <span className="flex flex-wrap items-center gap-1.5 text-[13px] font-medium">
          {decided.result === "rolled_back" && <CornerUpLeft aria-label="taken back" size={12} />}
          {clean(place(shape, decided.from))} <MoveRight aria-label="to" size={12} />{" "}
          {clean(place(shape, decided.to))}
        </span>
      )}
      {decided.reasons.map((reason) => (
        <span key={reason} className="block break-words">
          {clean(reason)}
        </span>
      ))}
      {decided.guards.map((guard, index) => (
        <span key={index} className="flex gap-1.5 text-ink-2">
          {guard.passed ? (
            <Check aria-label="passed" size={13} className="mt-0.5 shrink-0 text-good" />
          ) : (
            <X aria-label="refused" size={13} className="mt-0.5 shrink-0 text-bad" />
          )}
          <span className="min-w-0 break-words">
            {clean(guard.name)}: {clean(guard.reason)}
          </span>
        </span>
      ))}
      {decided.effects.length > 0 && (
        <span className="block text-ink-2">
          does {decided.effects.map((effect) => clean(effect.name)).join(", ")}
        </span>
      )}
      {decided.asks && (
        <span className="block text-you">
          asks ({decided.asks.type.replaceAll("_", " ")}): {clean(decided.asks.summary)}
        </span>
      )}
    </button>
  );
}

function ScriptText({ script, onChange }: { script: Step[]; onChange: (script: Step[]) => void }) {
  const [typed, setTyped] = useState(() => JSON.stringify(script, null, 2));
  const read = readJson(typed);
  const fault = read.broken
    ? `Line ${read.broken.line}, column ${read.broken.column}: ${read.broken.message}`
    : Array.isArray(read.value)
      ? ""
      : "A script is a list of steps.";
  return (
    <div className="flex h-full flex-col gap-1">
      <TextArea
        aria-label="The script as JSON"
        aria-invalid={fault !== ""}
        spellCheck={false}
        className="max-h-none min-h-40 flex-1 font-mono text-xs"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          const now = readJson(event.target.value);
          if (!now.broken && Array.isArray(now.value)) onChange(now.value as Step[]);
        }}
      />
      {fault && (
        <p role="alert" className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  );
}
