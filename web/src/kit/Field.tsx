import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { cx } from "./cx";

const box =
  "w-full rounded-md border border-line-strong bg-raised px-2.5 py-1.5 text-[13px] text-ink disabled:opacity-60";

export function Input({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input className={cx(box, "h-8 py-0 max-sm:h-11", className)} {...rest} />;
}

/** Grows with its text. */
export function TextArea({
  className,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> }) {
  return (
    <textarea
      rows={2}
      className={cx(
        box,
        "field-sizing-content max-h-80 min-h-16 resize-y leading-relaxed",
        className,
      )}
      {...rest}
    />
  );
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={cx(box, "h-8 w-auto py-0 pr-7 max-sm:h-11", className)} {...rest} />;
}

/** A label over a control, which gets its id. */
export function Field({
  label,
  note,
  error,
  children,
}: {
  label: ReactNode;
  note?: ReactNode;
  error?: string;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block text-xs font-medium text-ink-2">
        {label}
      </label>
      {children(id)}
      {note && <p className="text-xs text-ink-3">{note}</p>}
      {error && (
        <p role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  );
}
