/** What every form has: its frame, its buttons at the bottom, its keys. */
import { CloudOff, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { ApiError, InboxItem } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { cx } from "@/kit/cx";
import { clean } from "@/kit/text";
import type { Asked } from "./payloads";
import { isTooLate, type Sender } from "./useSender";

export interface FormProps<K extends Asked["kind"]> {
  item: InboxItem;
  asked: Extract<Asked, { kind: K }>;
  sender: Sender;
  /** Whether its keys work although nothing of it is focused. */
  keys: boolean;
}

interface Keys {
  /** Chooses the option of that number, counted from 1. */
  choose?: (number: number) => void;
  /** Goes to where own words are written. */
  custom?: () => void;
  accept?: () => void;
  send: () => void;
}

export function useFormKeys(active: boolean, { choose, custom, accept, send }: Keys) {
  useShortcuts(
    "This question",
    [
      ...(accept ? [{ keys: "a", label: "Accept the recommended answer", run: accept }] : []),
      ...(choose
        ? Array.from({ length: 9 }, (_, index) => ({
            keys: String(index + 1),
            label: `Choose option ${index + 1}`,
            run: () => choose(index + 1),
          }))
        : []),
      ...(custom ? [{ keys: "e", label: "Answer in own words", run: custom }] : []),
      { keys: "Ctrl+Enter", label: "Send", run: send },
    ],
    active,
  );
}

/** Ctrl+Enter sends from anywhere inside. */
export function FormFrame({
  onSend,
  children,
  foot,
  error,
  keeper,
}: {
  onSend: () => void;
  children: ReactNode;
  foot: ReactNode;
  error: ApiError | null;
  /** Where the answer can be kept as a decision. */
  keeper?: Sender;
}) {
  return (
    <form
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        onSend();
      }}
    >
      <div className="space-y-5 px-4 py-4 sm:px-5">{children}</div>
      <div className="sticky bottom-0 z-10 rounded-b-xl border-t bg-raised px-4 py-3 sm:px-5">
        {error && !isTooLate(error) && <Refusal error={error} />}
        {keeper && <Keep sender={keeper} />}
        <div className="flex flex-wrap items-center gap-2">{foot}</div>
      </div>
    </form>
  );
}

function Keep({ sender }: { sender: Sender }) {
  return (
    <label
      title="Agents that come to the same question are told it instead of asking again."
      className="mb-2 flex w-fit items-center gap-2 text-ink-2 max-sm:min-h-11"
    >
      <input
        type="checkbox"
        className="size-4 accent-accent"
        checked={sender.keep}
        onChange={(event) => sender.setKeep(event.target.checked)}
      />
      Keep this answer as a decision
    </label>
  );
}

function Refusal({ error }: { error: ApiError }) {
  const Icon = error.offline ? CloudOff : TriangleAlert;
  return (
    <div role="alert" className="mb-3 flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <Icon size={16} className="mt-0.5 shrink-0" />
      <div className="min-w-0 space-y-1 wrap-anywhere">
        <p className="font-medium">
          {error.offline
            ? "The server does not answer, so nothing was sent. Your answer is kept here; send it again when it is back."
            : clean(error.message)}
        </p>
        {error.details.length > 0 && (
          <ul className="list-disc pl-4">
            {error.details.map((line) => (
              <li key={line}>{clean(line)}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** One of several, as a card that is a radio button. */
export function Choice({
  name,
  checked,
  onChoose,
  number,
  children,
  className,
}: {
  name: string;
  checked: boolean;
  onChoose: () => void;
  /** The key that chooses it. */
  number?: number;
  children: ReactNode;
  className?: string;
}) {
  return (
    <label
      className={cx(
        "flex cursor-pointer gap-3 rounded-lg border bg-raised px-3 py-2.5 transition-colors max-sm:min-h-11",
        "has-focus-visible:outline-2 has-focus-visible:outline-accent",
        checked ? "border-accent bg-accent-soft" : "border-line-strong hover:bg-hover",
        className,
      )}
    >
      <input
        type="radio"
        name={name}
        checked={checked}
        onChange={onChoose}
        className="mt-0.5 size-4 shrink-0 accent-accent outline-none"
      />
      <div className="min-w-0 flex-1 wrap-anywhere">{children}</div>
      {number !== undefined && number <= 9 && (
        <kbd aria-hidden className="font-sans text-[11px] text-ink-3 max-sm:hidden">
          {number}
        </kbd>
      )}
    </label>
  );
}
