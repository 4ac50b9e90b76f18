import { combine } from "@atlaskit/pragmatic-drag-and-drop/combine";
import {
  draggable,
  dropTargetForElements,
} from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { ArrowDown, ArrowUp, GripVertical, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/kit/Button";
import { cx } from "@/kit/cx";
import { Input, Select, TextArea } from "@/kit/Field";
import type { Phase } from "./payloads";

export function PhaseRow({
  list,
  phase,
  index,
  count,
  onChange,
  onMove,
  onRemove,
}: {
  list: string;
  phase: Phase;
  index: number;
  count: number;
  onChange: (part: Partial<Phase>) => void;
  onMove: (from: number, to: number) => void;
  onRemove: () => void;
}) {
  const row = useRef<HTMLLIElement>(null);
  const grip = useRef<HTMLSpanElement>(null);
  const [over, setOver] = useState(false);
  const [held, setHeld] = useState(false);
  const move = useRef(onMove);
  move.current = onMove;
  useEffect(() => {
    if (!row.current || !grip.current) return;
    return combine(
      draggable({
        element: row.current,
        dragHandle: grip.current,
        getInitialData: () => ({ list, index }),
        onDragStart: () => setHeld(true),
        onDrop: () => setHeld(false),
      }),
      dropTargetForElements({
        element: row.current,
        canDrop: ({ source }) => source.data.list === list,
        onDragEnter: () => setOver(true),
        onDragLeave: () => setOver(false),
        onDrop: ({ source }) => {
          setOver(false);
          move.current(source.data.index as number, index);
        },
      }),
    );
  }, [list, index]);
  const name = `Phase ${index + 1}`;
  return (
    <li
      ref={row}
      className={cx(
        "flex gap-2 rounded-lg border bg-raised p-2 pl-1",
        over && "border-accent",
        held && "opacity-50",
      )}
    >
      <span
        ref={grip}
        className="flex w-6 shrink-0 cursor-grab flex-col items-center pt-2 text-ink-3 max-sm:hidden"
      >
        <GripVertical size={15} />
        <span className="mt-1 text-xs tabular-nums">{index + 1}</span>
      </span>
      <div className="min-w-0 flex-1 space-y-2 max-sm:pl-1">
        <div className="flex flex-wrap gap-2">
          <Input
            aria-label={`${name}: name`}
            placeholder="Name"
            maxLength={200}
            autoFocus={phase.name === "" && index === count - 1}
            className="min-w-40 flex-1 font-medium"
            value={phase.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
          <Select
            aria-label={`${name}: complexity`}
            value={phase.complexity}
            onChange={(event) =>
              onChange({ complexity: event.target.value as Phase["complexity"] })
            }
          >
            <option value="low">low complexity</option>
            <option value="medium">medium complexity</option>
            <option value="high">high complexity</option>
          </Select>
        </div>
        <TextArea
          aria-label={`${name}: description`}
          placeholder="What is done in it"
          className="min-h-9"
          rows={1}
          value={phase.description}
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </div>
      <div className="flex shrink-0 flex-col">
        <Button
          size="icon"
          look="quiet"
          aria-label={`${name}: move up`}
          disabled={index === 0}
          onClick={() => onMove(index, index - 1)}
        >
          <ArrowUp size={15} />
        </Button>
        <Button
          size="icon"
          look="quiet"
          aria-label={`${name}: move down`}
          disabled={index === count - 1}
          onClick={() => onMove(index, index + 1)}
        >
          <ArrowDown size={15} />
        </Button>
        <Button
          size="icon"
          look="quiet"
          aria-label={`${name}: remove`}
          disabled={count === 1}
          onClick={onRemove}
        >
          <Trash2 size={15} />
        </Button>
      </div>
    </li>
  );
}
