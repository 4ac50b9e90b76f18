import type { ReactNode } from "react";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";

/** Asks once more, where a click or a key would end, stop or delete something. */
export function Sure({
  title,
  action,
  onSure,
  onClose,
  disabled,
  busy,
  danger = true,
  children,
}: {
  title: string;
  action: string;
  onSure: () => void;
  onClose: () => void;
  disabled?: boolean;
  busy?: boolean;
  danger?: boolean;
  children: ReactNode;
}) {
  return (
    <Dialog open onClose={onClose} title={title}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          onSure();
        }}
      >
        <div className="space-y-3 text-ink-2">{children}</div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button
            type="submit"
            autoFocus
            look={danger ? "danger" : "primary"}
            disabled={disabled || busy}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
