import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Menu } from "@/kit/Menu";
import { targetsQuery } from "./data";
import type { Card } from "./model";

/** The way of keyboards and phones to what a drag does. */
export function MoveMenu({
  card,
  onMove,
  children,
}: {
  card: Card;
  onMove: (card: Card, to: string) => void;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const targets = useQuery({ ...targetsQuery(card.id), enabled: open });
  const items = (targets.data?.items ?? [])
    .filter((target) => target.status !== card.status)
    .sort((a, b) => Number(b.allowed) - Number(a.allowed))
    .map((target) => ({
      label: target.title,
      note: target.allowed ? undefined : target.reasons.join(" "),
      disabled: !target.allowed,
      onSelect: () => onMove(card, target.status),
    }));
  const told = targets.error
    ? [{ label: targets.error.message, disabled: true, onSelect: () => {} }]
    : [{ label: "Looking where it can go…", disabled: true, onSelect: () => {} }];
  return (
    <Menu
      label="Move to"
      open={open}
      onOpenChange={setOpen}
      trigger={children}
      items={targets.data ? items : told}
    />
  );
}
