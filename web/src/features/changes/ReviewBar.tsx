import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Prompt } from "@/api/client";
import { Button } from "@/kit/Button";
import { TextArea } from "@/kit/Field";
import { plural } from "@/kit/text";
import { answer, missing, type Review, type Verdict } from "./model";

/** Comments wait here until the whole review is sent, once. */
export function ReviewBar({
  prompt,
  review,
  onChange,
  onSent,
}: {
  prompt: Prompt | undefined;
  review: Review;
  onChange: (review: Review) => void;
  onSent: () => void;
}) {
  const client = useQueryClient();
  const [told, setTold] = useState("");
  // One key for one try: a second click, or a try after a cut line, sends nothing twice.
  const key = useRef(once()["Idempotency-Key"]);
  const send = useMutation({
    mutationFn: (verdict: Verdict) =>
      data(
        api.POST("/api/v1/prompts/{prompt_id}/answer", {
          params: { path: { prompt_id: prompt?.id ?? "" } },
          headers: once(key.current),
          body: answer(review, verdict),
        }),
      ),
    onSuccess: (_, verdict) => {
      onSent();
      toast.success(verdict === "approved" ? "Approved." : "Sent back with your comments.");
      void client.invalidateQueries({ queryKey: ["task"] });
      void client.invalidateQueries({ queryKey: ["inbox"] });
    },
    onError: (error: ApiError) => {
      if (!error.offline) key.current = once()["Idempotency-Key"];
      setTold([error.message, ...error.details].join(" "));
      if (error.status === 409) void client.invalidateQueries({ queryKey: ["task"] });
    },
  });
  const submit = (verdict: Verdict) => {
    const why = missing(review, verdict);
    setTold(why ?? "");
    if (!why) send.mutate(verdict);
  };
  const count = review.comments.filter((one) => one.text.trim()).length;
  return (
    <section
      aria-label="Your review"
      className="flex shrink-0 flex-wrap items-end gap-2 border-t bg-raised p-3"
    >
      <div className="min-w-0 flex-1 basis-64 max-sm:basis-full">
        <p className="mb-1 text-xs text-ink-2">
          {plural(count, "comment")} ·{" "}
          {prompt
            ? "sent with your verdict, once"
            : "kept here: the task does not wait for a review now"}
        </p>
        <TextArea
          aria-label="Summary"
          placeholder="In a few words"
          className="min-h-9"
          rows={1}
          value={review.summary}
          onChange={(event) => onChange({ ...review, summary: event.target.value })}
        />
        {told && (
          <p role="alert" className="mt-1 text-xs text-bad">
            {told}
          </p>
        )}
      </div>
      <Button
        className="max-sm:flex-1"
        disabled={!prompt || send.isPending}
        onClick={() => submit("changes_requested")}
      >
        Send back{count > 0 && ` · ${count}`}
      </Button>
      <Button
        className="max-sm:flex-1"
        look="primary"
        disabled={!prompt || send.isPending}
        onClick={() => submit("approved")}
      >
        Approve
      </Button>
    </section>
  );
}
