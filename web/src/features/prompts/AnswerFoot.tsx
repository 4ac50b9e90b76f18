import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/kit/Button";
import type { Sender } from "./useSender";

/** What the agent recommends is one press away, until something else was begun. */
export function AnswerFoot({
  acceptable,
  begun,
  keys,
  sender,
  ready,
  send,
  words,
  children,
}: {
  acceptable: boolean;
  begun: boolean;
  keys: boolean;
  sender: Sender;
  ready: boolean;
  send: () => void;
  words: string;
  children?: ReactNode;
}) {
  const accepts = acceptable && !begun;
  return (
    <>
      {acceptable && (
        <Button
          look={accepts ? "primary" : "plain"}
          hint={keys ? "a" : undefined}
          disabled={sender.busy}
          onClick={sender.accept}
        >
          <Check size={15} /> Accept recommended
        </Button>
      )}
      <Button
        look={accepts ? "plain" : "primary"}
        hint="Ctrl+Enter"
        disabled={sender.busy || !ready}
        onClick={send}
      >
        {sender.busy ? "Sending…" : words}
      </Button>
      {children}
    </>
  );
}
