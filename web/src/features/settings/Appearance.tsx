import { useEffect, useState } from "react";
import { toast } from "sonner";
import {
  canNotify,
  type Notices,
  noticed,
  notifies,
  subscribe,
  turnOff,
  turnOn,
} from "@/app/notify";
import { setTheme, type Theme, useTheme } from "@/app/theme";
import { Button } from "@/kit/Button";
import { Select } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";

export function Appearance() {
  const theme = useTheme();
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
        <BrowserNotices />
      </Section>
    </>
  );
}

const WHEN: Record<Notices, string> = {
  off: "A notice when a task asks something while you look elsewhere.",
  open: "On, while a page of Agents Manager is open.",
  always: "On, also while no page is open.",
};

function BrowserNotices() {
  const [on, setOn] = useState<Notices>(notifies() ? "open" : "off");
  useEffect(() => void noticed().then(setOn), []);
  const turn = async () => {
    if (on !== "off") {
      setOn("off");
      return turnOff();
    }
    if (!(await turnOn())) return toast.error("The browser does not allow notices of this page.");
    setOn("open");
    setOn(await subscribe());
  };
  if (!canNotify())
    return (
      <Panel className="p-4 text-ink-2">
        Browsers give notices only for pages of this machine or over HTTPS.
      </Panel>
    );
  return (
    <Panel className="space-y-3 p-4">
      <p className="text-ink-2">{WHEN[on]}</p>
      <div className="flex gap-2">
        <Button onClick={() => void turn()}>
          {on === "off" ? "Turn them on" : "Turn them off"}
        </Button>
        {on !== "off" && (
          <Button onClick={() => new Notification("This is how a notice looks")}>
            Send a test
          </Button>
        )}
      </div>
    </Panel>
  );
}
