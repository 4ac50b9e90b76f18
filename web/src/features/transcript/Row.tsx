import {
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CornerDownRight,
  Link2,
  Terminal,
} from "lucide-react";
import { memo, type ReactNode, useMemo } from "react";
import { toast } from "sonner";
import { cx } from "@/kit/cx";
import { Markdown } from "@/kit/Markdown";
import { Pre } from "@/kit/Pre";
import { clean, count, duration, money } from "@/kit/text";
import { LongText } from "./LongText";
import { address, type Entry, type Message } from "./messages";
import { TurnHead } from "./TurnHead";

const MARKDOWN = 6_000;
const PLAIN = 2_000;
/** A line of output: a whole number, and known before it is shown. Where it is not what the list
 * expects, each that comes moves all others, some frames long. */
export const OUTPUT_PX = 20;

interface Props {
  entry: Entry;
  run: string;
  /** How long it took, where that was seen. */
  seconds: number | null;
  open: boolean;
  toggle: (key: string) => void;
  wanted: string;
  current: boolean;
}

export const Row = memo(function Row(props: Props) {
  const { entry, current } = props;
  return (
    <div
      data-line={address(entry)}
      className={cx(
        "group/row relative px-6 max-sm:px-4",
        current && "bg-accent-soft",
        entry.kind === "output" ? "py-px" : "py-1",
      )}
    >
      <Body {...props} />
      {entry.kind !== "turn" && <CopyLink entry={entry} />}
    </div>
  );
});

function Body({ entry, run, seconds, open, toggle, wanted }: Props) {
  const name = `${run}-${address(entry)}.txt`;
  const fold = () => toggle(entry.key);
  switch (entry.kind) {
    case "turn":
      return <TurnHead run={run} turn={entry.turn} />;
    case "words":
      return <Words text={entry.text} name={name} />;
    case "output":
      return (
        <pre
          className={cx(
            "font-mono text-xs leading-[18px] break-words whitespace-pre-wrap text-ink-2",
            entry.bad && "text-bad",
          )}
        >
          <LongText text={entry.text} limit={PLAIN} name={name}>
            {(text) => <Marked text={clean(text)} wanted={wanted} />}
          </LongText>
        </pre>
      );
    case "tool":
      return (
        <Folded
          open={open}
          toggle={fold}
          head={
            <>
              <Terminal size={13} className="shrink-0 text-ink-3" />
              <span className="shrink-0 font-medium">
                <Marked text={entry.name} wanted={wanted} />
              </span>
              <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-2">
                <Marked text={entry.brief} wanted={wanted} />
              </span>
              {seconds !== null && (
                <span className="shrink-0 text-xs text-ink-2 tabular-nums">
                  {duration(seconds)}
                </span>
              )}
            </>
          }
        >
          <Code value={entry.input} name={name} />
        </Folded>
      );
    case "result":
      return (
        <Folded
          open={open}
          toggle={fold}
          head={
            <>
              <CornerDownRight
                size={13}
                className={cx("shrink-0", entry.ok ? "text-ink-3" : "text-bad")}
              />
              <span className="shrink-0 text-ink-2">{entry.name}</span>
              {!entry.ok && <span className="shrink-0 text-bad">failed</span>}
              <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-2">
                {entry.brief ? <Marked text={entry.brief} wanted={wanted} /> : "No output"}
              </span>
            </>
          }
        >
          <Pre className="max-h-96">
            <LongText text={entry.text} limit={PLAIN * 2} name={name}>
              {(text) => <Marked text={clean(text)} wanted={wanted} />}
            </LongText>
          </Pre>
        </Folded>
      );
    case "usage":
      return <p className="text-xs text-ink-3 tabular-nums">{used(entry.usage)}</p>;
    case "end":
      return (
        <Folded
          open={open !== !entry.repeats}
          toggle={fold}
          head={
            <>
              <CircleCheck size={13} className="shrink-0 text-good" />
              <span className="font-medium">Final message</span>
              <span className="text-xs text-ink-2">{count(entry.text.length)} characters</span>
            </>
          }
        >
          <Words text={entry.text} name={name} />
        </Folded>
      );
    case "error":
      return (
        <div role="note" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          <p className="flex items-center gap-2 font-medium">
            <CircleAlert size={14} /> The agent failed
            {entry.errorClass && <span className="text-xs">({clean(entry.errorClass)})</span>}
          </p>
          <div className="mt-1 break-words whitespace-pre-wrap">
            <LongText text={entry.text} limit={PLAIN} name={name}>
              {(text) => <Marked text={clean(text)} wanted={wanted} />}
            </LongText>
          </div>
        </div>
      );
    case "other":
      return (
        <Folded
          open={open}
          toggle={fold}
          head={<span className="font-mono text-xs text-ink-2">{clean(entry.name)}</span>}
        >
          <Code value={entry.content} name={name} />
        </Folded>
      );
  }
}

function Words({ text, name }: { text: string; name: string }) {
  return (
    <LongText text={text} limit={MARKDOWN} name={name}>
      {(shown) => <Markdown text={shown} className="max-w-3xl" />}
    </LongText>
  );
}

function Folded({
  open,
  toggle,
  head,
  children,
}: {
  open: boolean;
  toggle: () => void;
  head: ReactNode;
  children: ReactNode;
}) {
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className="flex h-7 w-full items-center gap-2 rounded-md px-1.5 pr-9 text-left hover:bg-hover max-sm:h-11"
      >
        <ChevronRight
          size={13}
          className={cx("shrink-0 text-ink-3 transition-transform", open && "rotate-90")}
        />
        {head}
      </button>
      {open && <div className="mt-1 mb-2 ml-6">{children}</div>}
    </>
  );
}

function Code({ value, name }: { value: unknown; name: string }) {
  const text = useMemo(
    () => clean(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "")),
    [value],
  );
  return (
    <Pre className="max-h-96">
      <LongText text={text.replace(/\\n/g, "\n")} limit={PLAIN * 2} name={name}>
        {(shown) => shown}
      </LongText>
    </Pre>
  );
}

/** The words that are searched for stand out. */
function Marked({ text, wanted }: { text: string; wanted: string }) {
  const low = wanted.trim().toLowerCase();
  const at = low ? text.toLowerCase().indexOf(low) : -1;
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark className="rounded-sm bg-warn-soft text-warn">{text.slice(at, at + low.length)}</mark>
      {text.slice(at + low.length)}
    </>
  );
}

function CopyLink({ entry }: { entry: Entry }) {
  const copy = () => {
    const url = new URL(window.location.href);
    url.hash = address(entry);
    window.history.replaceState(window.history.state, "", url);
    void navigator.clipboard?.writeText(url.href).then(() => toast("The link was copied."));
  };
  return (
    <button
      type="button"
      aria-label="Copy a link to this line"
      title="Copy a link to this line"
      onClick={copy}
      className="absolute top-1 right-2 grid size-6 place-items-center rounded-md bg-bg text-ink-3 opacity-0 group-hover/row:opacity-100 hover:bg-hover hover:text-ink focus-visible:opacity-100 max-sm:hidden"
    >
      <Link2 size={13} />
    </button>
  );
}

function used(usage: Message): string {
  const number = (name: string) => (typeof usage[name] === "number" ? usage[name] : null);
  const parts = [
    ["in", number("input_tokens")],
    ["out", number("output_tokens")],
    ["read from cache", number("cache_read_tokens")],
    ["written to cache", number("cache_write_tokens")],
  ] as const;
  const told = parts.filter(([, n]) => n !== null).map(([what, n]) => `${count(n)} ${what}`);
  const cost = number("cost_usd");
  return `Tokens: ${told.join(" · ") || "unknown"}${cost === null ? "" : ` · ${money(cost)}`}`;
}
