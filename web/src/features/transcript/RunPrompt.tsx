import { useQuery } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { toast } from "sonner";
import { api, data } from "@/api/client";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { Pre } from "@/kit/Pre";
import { Await } from "@/kit/State";
import { clean } from "@/kit/text";
import { LongText } from "./LongText";

/** The exact text that an agent was given in a turn. */
export function RunPrompt({
  run,
  turn = 1,
  onClose,
}: {
  run: string;
  turn?: number;
  onClose: () => void;
}) {
  const prompt = useQuery({
    queryKey: ["run", run, "prompt", turn],
    queryFn: () =>
      data(
        api.GET("/api/v1/runs/{run_id}/prompt", {
          params: { path: { run_id: run }, query: { turn } },
          parseAs: "text",
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="What the agent was told"
      description={turn === 1 ? `Run ${run}, word for word.` : `Run ${run}, turn ${turn}.`}
    >
      <Await query={prompt}>
        {(text) => (
          <div className="space-y-3">
            <Pre>
              <LongText text={text} limit={20_000} name={`${run}-prompt-${turn}.md`}>
                {(shown) => clean(shown)}
              </LongText>
            </Pre>
            <Button
              onClick={() =>
                void navigator.clipboard?.writeText(text).then(() => toast("It was copied."))
              }
            >
              <Copy size={14} /> Copy
            </Button>
          </div>
        )}
      </Await>
    </Dialog>
  );
}
