import { useState, useSyncExternalStore } from "react";
import { ApiError } from "@/api/client";
import { clean } from "@/kit/text";
import { Sure } from "./Sure";

export interface Consent {
  leave_unmerged?: boolean;
  release_dependents?: boolean;
}

interface Question {
  commits: string[];
  answer: (consent: Consent | null) => void;
}

let question: Question | null = null;
const listeners = new Set<() => void>();

function put(next: Question | null) {
  question = next;
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Sends a move or an answer. If it would close a task with unmerged commits, a person is shown them
 * and asked, and it is sent again with the consent. */
export async function consented<T>(send: (consent: Consent) => Promise<T>): Promise<T> {
  try {
    return await send({});
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "UnmergedWork") throw error;
    const consent = await new Promise<Consent | null>((answer) =>
      put({ commits: error.details, answer }),
    );
    put(null);
    if (consent) return send(consent);
    throw new ApiError(error.status, error.code, "It has commits that are not merged.");
  }
}

/** Where the question of `consented` is shown, once in the app. */
export function UnmergedDialog() {
  const asked = useSyncExternalStore(subscribe, () => question);
  return asked && <Asked question={asked} />;
}

function Asked({ question: { commits, answer } }: { question: Question }) {
  const [release, setRelease] = useState(false);
  return (
    <Sure
      title="Close with unmerged commits?"
      action="Close as done"
      onSure={() => answer({ leave_unmerged: true, release_dependents: release })}
      onClose={() => answer(null)}
    >
      <p>These commits of the task are not merged. They stay on its branch.</p>
      <ul className="max-h-48 overflow-auto rounded-lg border bg-sunken p-3 font-mono text-xs">
        {commits.map((commit) => (
          <li key={commit} className="wrap-anywhere">
            {clean(commit)}
          </li>
        ))}
      </ul>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={release}
          onChange={(event) => setRelease(event.target.checked)}
        />
        Let the tasks that depend on it start
      </label>
    </Sure>
  );
}
