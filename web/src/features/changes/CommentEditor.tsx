import { Trash2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { Button } from "@/kit/Button";
import { Select, TextArea } from "@/kit/Field";
import { type Comment, SEVERITIES, SEVERITY_WORDS, type Severity } from "./model";

/** One comment of the review that is being written; it is kept with every key. */
export function CommentEditor({
  comment,
  onChange,
  onRemove,
}: {
  comment: Comment;
  onChange: (comment: Comment) => void;
  onRemove: (id: string) => void;
}) {
  const place = comment.line === null ? comment.file : `line ${comment.line}`;
  const box = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(comment.text === "");
  useEffect(() => {
    if (isNew.current) box.current?.focus();
  }, []);
  return (
    <div className="space-y-2 rounded-lg border border-accent/50 bg-raised p-2.5">
      <TextArea
        ref={box}
        aria-label={`Comment on ${place}`}
        placeholder={`Comment on ${place}. Sent with the review, not before.`}
        value={comment.text}
        onChange={(event) => onChange({ ...comment, text: event.target.value })}
      />
      <div className="flex items-center gap-2">
        <Select
          aria-label="How much it matters"
          value={comment.severity}
          onChange={(event) => onChange({ ...comment, severity: event.target.value as Severity })}
        >
          {SEVERITIES.map((one) => (
            <option key={one} value={one}>
              {SEVERITY_WORDS[one]}
            </option>
          ))}
        </Select>
        <Button
          size="small"
          look="quiet"
          className="ml-auto"
          aria-label="Remove the comment"
          onClick={() => onRemove(comment.id)}
        >
          <Trash2 size={14} />
        </Button>
      </div>
    </div>
  );
}
