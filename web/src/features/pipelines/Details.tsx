import { ArrowLeft, MoveRight } from "lucide-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { clean, duration, plural } from "@/kit/text";
import { FindingCard } from "./Findings";
import { LOOK } from "./look";
import type { Lit } from "./path";
import type { Counts } from "./queries";
import {
  cause,
  findingsAt,
  leaving,
  type Placed,
  place,
  type Selected,
  type Shape,
  type Status,
  type Transition,
} from "./shape";

export interface Shown {
  shape: Shape;
  findings: Placed;
  lit: Lit | null;
  counts: Counts | null;
  parts: Schemas["Parts"] | undefined;
  onSelect: (selected: Selected | null) => void;
}

/** What is known of one status or transition. */
export function Details({ selected, ...shown }: Shown & { selected: Selected }) {
  const { shape, onSelect } = shown;
  const status = selected.kind === "status" ? shape.statuses[selected.index] : undefined;
  const transition = selected.kind === "transition" ? shape.transitions[selected.index] : undefined;
  return (
    <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-3">
      <Back onClick={() => onSelect(null)} />
      {findingsAt(shown.findings, selected).map((finding, index) => (
        <FindingCard key={index} finding={finding} />
      ))}
      {status && <OneStatus status={status} {...shown} />}
      {transition && <OneTransition one={transition} {...shown} />}
      {!status && !transition && <p className="text-ink-2">It is not there any more.</p>}
    </div>
  );
}

export function Back({ onClick }: { onClick: () => void }) {
  return (
    <Button look="quiet" size="small" className="-ml-1" onClick={onClick}>
      <ArrowLeft size={14} /> All statuses
    </Button>
  );
}

function OneStatus({ status, shape, lit, counts, onSelect }: Shown & { status: Status }) {
  const visit = lit?.statuses.get(status.id);
  const count = counts?.statuses.get(status.id);
  const ways = leaving(shape, status.id);
  const arrivals = shape.transitions
    .map((one, index) => ({ one, index }))
    .filter(({ one }) => one.to === status.id);
  return (
    <>
      <div>
        <h2 className="text-[15px] font-semibold">{clean(status.title)}</h2>
        <p className="flex flex-wrap items-center gap-1.5 pt-1 text-xs text-ink-3">
          <code className="font-mono">{clean(status.id)}</code>
          <Chip tone={LOOK[status.category].tone}>{status.category}</Chip>
          {status.color && /^#[0-9a-f]{3,8}$/i.test(status.color) && (
            <span
              title={`Its colour: ${status.color}`}
              className="size-3 rounded-full border"
              style={{ backgroundColor: status.color }}
            />
          )}
        </p>
      </div>
      <Facts>
        {count && <Fact name="Tasks here">{plural(count.tasks, "task")}</Fact>}
        {count && count.median_s !== null && (
          <Fact name="Usually">
            {duration(count.median_s)}, of {plural(count.visits, "visit")}
          </Fact>
        )}
        {visit && (
          <Fact name="This task">
            {visit.seconds !== null && `${duration(visit.seconds)}, `}
            {plural(visit.times, "visit")}
          </Fact>
        )}
        {status.prompt && (
          <Fact name="Asks">
            {status.prompt.type.replaceAll("_", " ")}
            {status.prompt.expires_after !== null &&
              `, for ${duration(status.prompt.expires_after)}`}
            {status.prompt.roles.length > 0 && ` of ${status.prompt.roles.map(clean).join(", ")}`}
          </Fact>
        )}
      </Facts>
      <Ways title="Ways out" empty="None: a task ends here." rows={ways}>
        {({ one, index }) => (
          <Way key={index} onClick={() => onSelect({ kind: "transition", index })}>
            {clean(cause(one))} <MoveRight aria-label="leads to" size={12} />{" "}
            {clean(place(shape, one.to))}
          </Way>
        )}
      </Ways>
      <Ways title="Ways in" empty="None: tasks begin here, or never come." rows={arrivals}>
        {({ one, index }) => (
          <Way key={index} onClick={() => onSelect({ kind: "transition", index })}>
            {clean(place(shape, one.from))} <MoveRight aria-label="comes by" size={12} />{" "}
            {clean(cause(one))}
          </Way>
        )}
      </Ways>
    </>
  );
}

function Ways<T>({
  title,
  empty,
  rows,
  children,
}: {
  title: string;
  empty: string;
  rows: T[];
  children: (row: T) => ReactNode;
}) {
  return (
    <section>
      <h3 className="pb-1 text-xs font-semibold text-ink-3">{title}</h3>
      {rows.length === 0 ? <p className="text-ink-2">{empty}</p> : rows.map(children)}
    </section>
  );
}

function Way({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="-mx-2 flex w-[calc(100%+1rem)] items-center gap-1.5 rounded-md px-2 py-1 text-left hover:bg-hover max-sm:min-h-11"
    >
      {children}
    </button>
  );
}

function OneTransition({ one, shape, lit, counts, parts }: Shown & { one: Transition }) {
  const fired = lit?.transitions.get(one.id) ?? 0;
  return (
    <>
      <div>
        <h2 className="flex flex-wrap items-center gap-1.5 text-[15px] font-semibold">
          {clean(place(shape, one.from))} <MoveRight aria-label="to" size={14} />{" "}
          {clean(place(shape, one.to))}
        </h2>
        <p className="pt-1 text-xs text-ink-3">
          <code className="font-mono">{clean(one.id)}</code>
          {fired > 0 && `, fired ${plural(fired, "time")} for this task`}
        </p>
      </div>
      <Facts>
        {counts && <Fact name="Taken">{plural(counts.transitions.get(one.id) ?? 0, "time")}</Fact>}
        <Fact name="Trigger">{one.trigger.type.replaceAll("_", " ")}</Fact>
        {one.trigger.outcome && (
          <Fact name="Outcome">
            <code className="font-mono">{clean(one.trigger.outcome)}</code>
            <Meaning
              text={parts?.outcomes.find((each) => each.name === one.trigger.outcome)?.meaning}
            />
          </Fact>
        )}
      </Facts>
      <PartList
        title="Guards"
        empty="None: nothing holds it back."
        rows={one.guards.map((guard) => ({
          name: `${guard.not ? "not " : ""}${guard.type}`,
          meaning: parts?.guards.find((each) => each.name === guard.type)?.meaning,
          params: guard.params,
        }))}
      />
      <PartList
        title="Hooks"
        empty="None: only the status changes."
        rows={one.hooks.map((hook) => {
          const part = parts?.hooks.find((each) => each.name === hook.type);
          return {
            name: hook.type,
            meaning: part?.meaning,
            params: hook.params,
            chip: hook.policy ?? part?.policy,
          };
        })}
      />
    </>
  );
}

/** The code quotes of Markdown are not for here. */
export const plainly = (text: string) => clean(text).replaceAll("`", "");

function Meaning({ text }: { text: string | undefined }) {
  return text ? <span className="block text-xs text-ink-2">{plainly(text)}</span> : null;
}

function PartList({
  title,
  empty,
  rows,
}: {
  title: string;
  empty: string;
  rows: {
    name: string;
    meaning: string | undefined;
    params: Record<string, unknown>;
    chip?: string;
  }[];
}) {
  return (
    <section>
      <h3 className="pb-1 text-xs font-semibold text-ink-3">{title}</h3>
      {rows.length === 0 && <p className="text-ink-2">{empty}</p>}
      <ul className="space-y-2">
        {rows.map((row, index) => (
          <li key={index} className="rounded-lg border px-2.5 py-2">
            <div className="flex items-center gap-2">
              <code className="min-w-0 flex-1 truncate font-mono text-xs font-medium">
                {clean(row.name)}
              </code>
              {row.chip && <Chip>{row.chip.replaceAll("_", " ")}</Chip>}
            </div>
            <Meaning text={row.meaning} />
            {Object.entries(row.params).map(([key, value]) => (
              <p key={key} className="pt-1 text-xs break-words">
                <span className="text-ink-3">{clean(key)}</span>{" "}
                {clean(typeof value === "string" ? value : JSON.stringify(value))}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[6rem_1fr] gap-x-3 gap-y-1.5">{children}</dl>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
