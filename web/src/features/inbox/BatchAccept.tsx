import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CheckCheck } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import type { InboxItem } from "@/api/client";
import type { Answer } from "@/features/prompts/answers";
import { asked } from "@/features/prompts/payloads";
import { said } from "@/features/prompts/said";
import { acceptPrompt, countAnswers, gone, offerUndo } from "@/features/prompts/useSender";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";
import { clean, plural } from "@/kit/text";

/** Takes every recommended answer, after they were shown. */
export function BatchAccept({ items }: { items: InboxItem[] }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const acceptable = items.filter((one) => one.acceptable);
  const accept = useMutation({
    mutationFn: async (those: InboxItem[]) => {
      const done: string[] = [];
      const refused: string[] = [];
      for (const { prompt, task } of those)
        await acceptPrompt(prompt.id).then(
          () => done.push(prompt.id),
          (error: Error) => refused.push(`${task.title}: ${error.message}`),
        );
      return { done, refused };
    },
    onSuccess: ({ done, refused }) => {
      gone(client, done);
      countAnswers(done.length);
      setOpen(false);
      if (done.length > 0)
        offerUndo(client, done, `${plural(done.length, "recommended answer")} taken`, () => {});
      for (const one of refused) toast.error(clean(one));
    },
  });
  if (acceptable.length < 2) return null;
  return (
    <>
      <Button size="small" className="w-full" onClick={() => setOpen(true)}>
        <CheckCheck size={14} /> Accept all recommended ({acceptable.length})
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Accept ${plural(acceptable.length, "recommended answer")}?`}
        description="The agents go on with these. You can take it back for a few seconds."
      >
        <ul className="divide-y">
          {acceptable.map((item) => (
            <li key={item.prompt.id} className="space-y-0.5 py-2 wrap-anywhere">
              <p className="font-medium">{clean(item.task.title)}</p>
              {said(asked(item.prompt), item.acceptable as Answer).map((line, index) => (
                <p key={index} className="text-ink-2">
                  {line.label && <span className="text-ink-3">{clean(line.label)} </span>}
                  {clean(line.text)}
                </p>
              ))}
            </li>
          ))}
        </ul>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button
            look="primary"
            disabled={accept.isPending}
            onClick={() => accept.mutate(acceptable)}
          >
            {accept.isPending ? "Accepting…" : `Accept ${acceptable.length}`}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
