import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { clean, shortened } from "@/kit/text";
import { permissionAnswer, type Scope } from "./answers";
import { FormFrame, type FormProps, useFormKeys } from "./Form";

const SCOPES: [Scope, string, string][] = [
  ["once", "Allow once", "Only this."],
  ["run", "Allow for this run", "The same, until this run ends."],
  ["project", "Allow for the project", "The same, for all its runs, from now on."],
];

/** A run waits for this; it is answered by a button, and cannot be taken back. */
export function PermissionForm({ asked, sender, keys }: FormProps<"permission">) {
  const allow = (scope: Scope) => sender.send(permissionAnswer(true, scope));
  useFormKeys(keys, {
    choose: (number) => {
      const scope = SCOPES[number - 1];
      if (scope) allow(scope[0]);
      else if (number === SCOPES.length + 1) sender.send(permissionAnswer(false));
    },
    send: () => allow("once"),
  });
  const action = shortened(clean(asked.action));
  return (
    <FormFrame
      onSend={() => allow("once")}
      error={sender.error}
      foot={
        <>
          {SCOPES.map(([scope, words, means], index) => (
            <Button
              key={scope}
              look={scope === "once" ? "primary" : "plain"}
              title={means}
              hint={keys ? String(index + 1) : undefined}
              disabled={sender.busy}
              onClick={() => allow(scope)}
            >
              {words}
            </Button>
          ))}
          <Button
            look="danger"
            hint={keys ? String(SCOPES.length + 1) : undefined}
            disabled={sender.busy}
            onClick={() => sender.send(permissionAnswer(false))}
          >
            Do not allow
          </Button>
        </>
      }
    >
      <p className="flex flex-wrap items-center gap-2 text-[15px]">
        May the agent use <Chip tone="warn">{clean(asked.tool)}</Chip> for this?
      </p>
      <pre className="max-h-72 overflow-auto rounded-lg border bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap wrap-anywhere">
        {action.text}
        {action.cut > 0 && `\n… ${action.cut} more characters are not shown.`}
      </pre>
      {asked.reason && <p className="text-ink-2 wrap-anywhere">{clean(asked.reason)}</p>}
      <p className="text-xs text-ink-3">
        The run waits until you answer. What is not allowed is refused to the agent, which goes on
        without it.
      </p>
    </FormFrame>
  );
}
