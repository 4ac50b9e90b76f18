import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ButtonHTMLAttributes, Ref } from "react";
import { cx } from "./cx";
import { Kbd } from "./Kbd";

const button = cva(
  "inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors disabled:opacity-55",
  {
    variants: {
      look: {
        primary: "bg-accent text-accent-ink hover:brightness-110",
        plain: "border border-line-strong bg-raised hover:bg-hover text-ink",
        quiet: "text-ink-2 hover:bg-hover hover:text-ink",
        danger: "border border-bad/40 bg-raised text-bad hover:bg-bad-soft",
        good: "border border-good/40 bg-raised text-good hover:bg-good-soft",
      },
      size: {
        small: "h-7 px-2 text-xs max-sm:h-9",
        normal: "h-8 px-3 text-[13px] max-sm:h-11 max-sm:px-4",
        large: "h-10 px-4 text-sm max-sm:h-12",
        icon: "size-8 max-sm:size-11",
      },
    },
    defaultVariants: { look: "plain", size: "normal" },
  },
);

interface Props extends ButtonHTMLAttributes<HTMLButtonElement>, VariantProps<typeof button> {
  asChild?: boolean;
  /** The key that does the same, shown beside the words. */
  hint?: string;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look, size, asChild, hint, className, children, ...rest }: Props) {
  const Part = asChild ? Slot.Root : "button";
  return (
    <Part
      {...(asChild ? {} : { type: "button" as const })}
      className={cx(button({ look, size }), className)}
      {...rest}
    >
      {asChild ? (
        children
      ) : (
        <>
          {children}
          {hint && <Kbd className="max-sm:hidden">{hint}</Kbd>}
        </>
      )}
    </Part>
  );
}
