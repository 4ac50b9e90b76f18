import { CircleCheck, OctagonAlert, TriangleAlert } from "lucide-react";
import { cx } from "@/kit/cx";
import { Empty } from "@/kit/State";
import { clean } from "@/kit/text";
import { type Finding, placeOf, type Selected } from "./shape";

export function FindingCard({
  finding,
  line,
  onClick,
}: {
  finding: Finding;
  line?: number | null;
  onClick?: () => void;
}) {
  const wrong = finding.severity === "error";
  const Icon = wrong ? OctagonAlert : TriangleAlert;
  const Part = onClick ? "button" : "div";
  return (
    <Part
      {...(onClick ? { type: "button" as const, onClick } : {})}
      className={cx(
        "flex w-full gap-2 rounded-lg border px-2.5 py-2 text-left",
        wrong ? "border-bad/40 bg-bad-soft" : "border-warn/40 bg-warn-soft",
      )}
    >
      <Icon
        aria-label={finding.severity}
        size={15}
        className={cx("mt-0.5 shrink-0", wrong ? "text-bad" : "text-warn")}
      />
      <span className="min-w-0 break-words">
        <span className="block font-medium">{clean(finding.message)}</span>
        <span className="block">{clean(finding.fix)}</span>
        <span className="block pt-0.5 text-xs text-ink-2">
          {line ? `line ${line}, ` : ""}
          {clean(finding.position)} · {clean(finding.code)}
        </span>
      </span>
    </Part>
  );
}

const MOST = 200;

/** Everything that the linter says, errors first; a click shows the place. */
export function FindingList({
  findings,
  lineAt,
  onSelect,
}: {
  findings: Finding[];
  lineAt?: (position: string) => number | null;
  onSelect: (selected: Selected) => void;
}) {
  if (findings.length === 0)
    return (
      <Empty icon={<CircleCheck size={24} className="text-good" />} title="Nothing is wrong">
        The linter finds neither errors nor warnings.
      </Empty>
    );
  return (
    <div className="min-h-0 flex-1 space-y-2 overflow-y-auto p-3">
      {findings.slice(0, MOST).map((finding, index) => {
        const at = placeOf(finding);
        return (
          <FindingCard
            key={index}
            finding={finding}
            line={lineAt?.(finding.position)}
            onClick={at ? () => onSelect(at) : undefined}
          />
        );
      })}
      {findings.length > MOST && (
        <p className="text-ink-2">{findings.length - MOST} more are not shown.</p>
      )}
    </div>
  );
}
