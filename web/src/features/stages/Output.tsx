import { Braces } from "lucide-react";
import { useState } from "react";
import { Button } from "@/kit/Button";
import { Pre } from "@/kit/Pre";
import { clean, shortened } from "@/kit/text";
import { Shape } from "./Shape";

const RAW = 100_000;

/** What a stage gave back, as people read it; the data itself is one click away. */
export function Output({ name, value }: { name: string; value: unknown }) {
  const [raw, setRaw] = useState(false);
  const text = shortened(clean(JSON.stringify(value, null, 2) ?? ""), RAW);
  return (
    <div className="space-y-2">
      <div className="flex items-center justify-between gap-2">
        <h4 className="text-xs font-semibold text-ink-2">Output</h4>
        <Button
          size="small"
          look="quiet"
          aria-pressed={raw}
          aria-label={`${raw ? "Words" : "JSON"} of ${name}`}
          onClick={() => setRaw(!raw)}
        >
          <Braces size={13} /> {raw ? "As words" : "As JSON"}
        </Button>
      </div>
      {raw ? (
        <Pre className="max-h-[32rem]">
          {text.text}
          {text.cut > 0 && `\n… ${text.cut} more characters`}
        </Pre>
      ) : (
        <Shape name={Array.isArray(value) ? "reports" : name} value={value} />
      )}
    </div>
  );
}
