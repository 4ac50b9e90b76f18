import { ChevronRight } from "lucide-react";
import { Chip } from "@/kit/Chip";
import { cx } from "@/kit/cx";
import { clean } from "@/kit/text";
import { isEmpty } from "./data";
import { gist } from "./gist";
import { Output } from "./Output";
import { Shape } from "./Shape";
import { StageRuns } from "./StageRuns";
import { anchor, LOOKS, numberOf, type StageSeen, wordOf } from "./standing";

/** A stage in a line; opened, with what it gave back and who worked at it. */
export function StageRow({
  task,
  stage,
  builders,
  ended,
  open,
  toggle,
}: {
  task: string;
  stage: StageSeen;
  /** How each builder ended, of the stage that builds. */
  builders: unknown;
  ended: boolean;
  open: boolean;
  toggle: () => void;
}) {
  const { icon: Icon, ink } = LOOKS[stage.standing];
  const shown = stage.runs.length > 0;
  const word = wordOf(stage.standing, ended);
  const line = (
    <>
      <Icon
        size={16}
        aria-hidden
        className={cx("shrink-0", ink, stage.standing === "live" && "animate-pulse")}
      />
      <span className="w-7 shrink-0 text-right text-xs text-ink-3 tabular-nums">
        {numberOf(stage.number)}
      </span>
      <span className="min-w-0 flex-1 sm:flex sm:items-baseline sm:gap-3">
        <span className={cx("block truncate sm:w-44 sm:shrink-0", shown && "font-medium")}>
          {stage.title}
        </span>
        <span className="block truncate text-xs text-ink-3 sm:w-36 sm:shrink-0">{stage.role}</span>
        <Told stage={stage} />
      </span>
      {stage.again > 0 && <Chip tone="warn">again ×{stage.again}</Chip>}
      <span className={cx("shrink-0 text-right text-xs sm:w-16", ink)}>{word}</span>
    </>
  );
  const place = "flex min-h-11 w-full items-center gap-2.5 px-3 py-1.5 text-left";
  return (
    <li id={anchor(stage.number)} className="scroll-mt-12">
      <h3>
        {shown ? (
          <button
            type="button"
            aria-expanded={open}
            onClick={toggle}
            className={cx(place, "hover:bg-hover/60")}
          >
            {line}
            <ChevronRight
              size={14}
              aria-hidden
              className={cx("shrink-0 text-ink-3 transition-transform", open && "rotate-90")}
            />
          </button>
        ) : (
          <div className={cx(place, "pr-9")}>{line}</div>
        )}
      </h3>
      {shown && open && (
        <div className="space-y-4 border-t bg-sunken/60 p-3 sm:py-4 sm:pr-4 sm:pl-12">
          {!isEmpty(stage.output) && <Output name={stage.title} value={stage.output} />}
          {!isEmpty(builders) && (
            <div className="space-y-1">
              <h4 className="text-xs font-semibold text-ink-2">How each builder ended</h4>
              <Shape name="builders" value={builders} />
            </div>
          )}
          <StageRuns task={task} runs={stage.runs} />
        </div>
      )}
    </li>
  );
}

function Told({ stage }: { stage: StageSeen }) {
  const text = stage.reason ?? gist(stage.role, stage.output);
  if (!text) return null;
  return (
    <span
      title={clean(text)}
      className={cx(
        "block truncate text-xs sm:min-w-0 sm:flex-1",
        stage.standing === "failed" ? "text-bad" : "text-ink-2",
      )}
    >
      {clean(text)}
    </span>
  );
}
