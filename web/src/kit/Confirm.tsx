import { type ReactNode, useState } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

/** A button that asks once more; nothing is ended or deleted by one click. */
export function Confirm({
  title,
  children,
  action,
  onConfirm,
  trigger,
  danger = true,
}: {
  title: string;
  children: ReactNode;
  action: string;
  onConfirm: () => void;
  trigger: (open: () => void) => ReactNode;
  danger?: boolean;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      {trigger(() => setOpen(true))}
      <Dialog open={open} onClose={() => setOpen(false)} title={title}>
        <div className="space-y-4">
          <div className="text-ink-2">{children}</div>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button
              autoFocus
              look={danger ? "danger" : "primary"}
              onClick={() => {
                setOpen(false);
                onConfirm();
              }}
            >
              {action}
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
