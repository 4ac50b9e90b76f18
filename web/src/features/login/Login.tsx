import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError, BASE } from "@/api/client";
import { Button } from "@/kit/Button";
import { Field, Input } from "@/kit/Field";

async function enter(body: { token: string } | { code: string }) {
  const answer = await fetch(`${BASE}/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new ApiError(0, "Offline", "The server does not answer.");
  });
  if (answer.ok) return;
  const said = await answer.json().catch(() => null);
  throw new ApiError(answer.status, said?.error ?? "Error", said?.message ?? "That did not work.");
}

export function Login() {
  const { next } = useSearch({ from: "/login" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  // A link logs in by itself; its code stands behind the #, which no server or proxy logs.
  const code = useRef(window.location.hash.slice(1));

  const submit = async (body: { token: string } | { code: string }) => {
    setBusy(true);
    setError("");
    try {
      await enter(body);
      client.clear();
      await navigate({
        href: next?.startsWith("/") && !next.startsWith("//") ? next : "/",
        replace: true,
      });
    } catch (failure) {
      setError((failure as Error).message);
      setBusy(false);
    }
  };
  const begin = useRef(submit);
  useEffect(() => {
    if (!code.current) return;
    const given = code.current;
    code.current = "";
    window.history.replaceState(null, "", window.location.pathname + window.location.search);
    void begin.current({ code: given });
  }, []);

  return (
    <main className="grid min-h-full place-items-center p-6">
      <form
        className="w-full max-w-sm space-y-5 rounded-2xl border bg-raised p-7 shadow-sm"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void submit({ token: token.trim() });
        }}
      >
        <div className="flex items-center gap-3">
          <img src={`${BASE}/icon.svg`} alt="" className="size-9" />
          <h1 className="text-lg font-semibold">Agents Manager</h1>
        </div>
        <Field
          label="Token"
          note={
            <>
              Run <code className="font-mono">am login</code> for a link that logs you in, or paste
              the text of the file <code className="font-mono">~/.agents-manager/token</code>.
            </>
          }
          error={error}
        >
          {(id) => (
            <Input
              id={id}
              type="password"
              autoComplete="current-password"
              autoFocus
              required
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <Button look="primary" size="large" type="submit" disabled={busy} className="w-full">
          {busy ? "Logging in…" : "Log in"}
        </Button>
      </form>
    </main>
  );
}
