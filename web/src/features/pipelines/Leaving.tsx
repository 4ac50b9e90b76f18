import type { useBlocker } from "@tanstack/react-router";
import { Button } from "@/kit/Button";
import { Dialog } from "@/kit/Dialog";

type Blocker = ReturnType<typeof useBlocker> & object;

/** Asked once before a page with unsaved changes is left. */
export function Leaving({ blocker }: { blocker: Blocker }) {
  return (
    <Dialog
      open={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Your changes are not saved"
    >
      <div className="space-y-4">
        <p className="text-ink-2">
          They are kept in this browser, and you find them here when you edit it again. Nobody else
          sees them, and tasks do not follow them.
        </p>
        <div className="flex justify-end gap-2">
          <Button onClick={() => blocker.proceed?.()}>Leave</Button>
          <Button look="primary" autoFocus onClick={() => blocker.reset?.()}>
            Go on editing
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
