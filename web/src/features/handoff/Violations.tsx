import type { Schemas } from "@/api/client";
import { clean } from "@/kit/text";

/** Why what a run left was not kept. */
export function Violations({ violations }: { violations: Schemas["Violation"][] }) {
  if (violations.length === 0) return null;
  return (
    <div className="max-w-3xl rounded-md bg-warn-soft px-3 py-2 text-warn">
      <p className="font-medium">The handoff of the run was not kept</p>
      <ul className="list-disc pl-5">
        {violations.map((one, index) => (
          <li key={index} className="wrap-anywhere">
            <code className="font-mono text-xs">{clean(one.field)}</code>: {clean(one.wrong)}{" "}
            {clean(one.right)}
          </li>
        ))}
      </ul>
    </div>
  );
}
