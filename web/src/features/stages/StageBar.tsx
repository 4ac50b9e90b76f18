import { cx } from "@/kit/cx";
import { plural } from "@/kit/text";
import { LOOKS, numberOf, type StageSeen, through, wordOf } from "./standing";

/** All stages at a glance; each leads to its line. */
export function StageBar({
  stages,
  ended,
  show,
}: {
  stages: StageSeen[];
  ended: boolean;
  show: (stage: StageSeen) => void;
}) {
  const { done, of } = through(stages);
  return (
    <div className="space-y-1.5">
      <div className="flex gap-1">
        {stages.map((stage) => {
          const name = `Stage ${numberOf(stage.number)}, ${stage.title}: ${wordOf(stage.standing, ended)}`;
          return (
            <button
              key={stage.number}
              type="button"
              aria-label={name}
              title={name}
              onClick={() => show(stage)}
              className="group flex h-5 min-w-0 flex-1 items-center max-sm:h-11"
            >
              <span
                className={cx(
                  "h-1.5 w-full rounded-full transition-[height] group-hover:h-2.5",
                  LOOKS[stage.standing].bar,
                  stage.standing === "live" && "animate-pulse",
                )}
              />
            </button>
          );
        })}
      </div>
      <p className="text-xs text-ink-3">
        {done} of {plural(of, "stage")} done
        {of < stages.length && `, ${stages.length - of} left out`}
      </p>
    </div>
  );
}
