import { Dialog } from "@/kit/Dialog";
import { Kbd } from "@/kit/Kbd";
import { useAllShortcuts } from "./keys";

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const scopes = useAllShortcuts();
  return (
    <Dialog open={open} onClose={onClose} title="Keys" wide>
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        {[...scopes].reverse().map((scope, index) => (
          <section key={index}>
            <h3 className="mb-2 text-xs font-semibold text-ink-3">{scope.name}</h3>
            <dl className="space-y-1.5">
              {scope.shortcuts.map((one) => (
                <div key={one.keys} className="flex items-center justify-between gap-4">
                  <dt>{one.label}</dt>
                  <dd className="flex gap-1">
                    {one.keys.split(" ").map((key) => (
                      <Kbd key={key}>{key === "" ? "Space" : key}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
