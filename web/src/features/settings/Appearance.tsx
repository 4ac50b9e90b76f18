import { useState } from "react";
import { toast } from "sonner";
import { canNotify, notifies, setNotify } from "@/app/notify";
import { setTheme, type Theme, useTheme } from "@/app/theme";
import { Button } from "@/kit/Button";
import { Select } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";

export function Appearance() {
  const theme = useTheme();
  const [on, setOn] = useState(notifies);
  return (
    <>
      <Section title="Theme">
        <Panel className="flex items-center gap-3 p-4">
          <Select
            aria-label="Theme"
            value={theme}
            onChange={(event) => setTheme(event.target.value as Theme)}
          >
            <option value="system">As the system</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </Select>
        </Panel>
      </Section>
      <Section title="Notices of this browser">
        <Panel className="space-y-3 p-4">
          <p className="text-ink-2">
            {canNotify()
              ? "A notice when a task asks something while you look elsewhere."
              : "Browsers give notices only for pages of this machine or over HTTPS."}
          </p>
          {canNotify() && (
            <div className="flex gap-2">
              <Button
                onClick={async () => {
                  const now = await setNotify(!on);
                  setOn(now);
                  if (!on && !now) toast.error("The browser does not allow notices of this page.");
                }}
              >
                {on ? "Turn them off" : "Turn them on"}
              </Button>
              {on && (
                <Button onClick={() => new Notification("This is how a notice looks")}>
                  Send a test
                </Button>
              )}
            </div>
          )}
        </Panel>
      </Section>
    </>
  );
}
