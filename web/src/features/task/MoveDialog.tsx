import { clean } from "@/kit/text";
import { Sure } from "./Sure";
import type { Choice } from "./situation";

/** A move that ends the task or stops its agent is asked for once more. */
export function MoveDialog({
  choice,
  onMove,
  onClose,
}: {
  choice: Choice;
  onMove: () => void;
  onClose: () => void;
}) {
  return (
    <Sure
      title={`${clean(choice.move.label)}?`}
      action={choice.stops ? `Stop the agent and ${lower(choice)}` : clean(choice.move.label)}
      onSure={onMove}
      onClose={onClose}
      danger={choice.ends || choice.stops}
    >
      <p>
        The task moves to <b className="font-medium text-ink">{clean(choice.title)}</b>
        {choice.ends ? ", which ends it." : "."}
      </p>
      {choice.stops && (
        <p>An agent is at work. It is stopped first; work that it did not commit is kept.</p>
      )}
    </Sure>
  );
}

function lower(choice: Choice) {
  const words = clean(choice.move.label);
  return words.charAt(0).toLowerCase() + words.slice(1);
}
