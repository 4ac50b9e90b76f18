import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, BASE, data, once, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";
import { Await } from "@/kit/State";
import { Table } from "@/kit/Table";
import { Ago } from "@/kit/Time";

type Token = Schemas["Token"];

export function Access() {
  const me = useQuery(queries.me());
  return (
    <>
      <Await query={me}>
        {(who) => (
          <Panel className="flex flex-wrap items-center gap-3 p-4">
            <span>
              You are <b>{who.name}</b> ({who.role}).
            </span>
            <LogOut />
          </Panel>
        )}
      </Await>
      {me.data?.admin && (
        <>
          <Phone />
          <Tokens />
        </>
      )}
    </>
  );
}

function LogOut() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <Button
      size="small"
      className="ml-auto"
      onClick={async () => {
        await fetch(`${BASE}/auth/logout`, { method: "POST" });
        client.clear();
        await navigate({ to: "/login", search: {} });
      }}
    >
      Log out
    </Button>
  );
}

function Phone() {
  const link = useMutation({
    mutationFn: () => data(api.POST("/api/v1/login-links", { headers: once() })),
    onError: (error) => toast.error(error.message),
  });
  const made = link.data;
  return (
    <Section title="Log in on a phone">
      <Panel className="space-y-3 p-4">
        <p className="text-ink-2">
          A link that logs in once, within ten minutes. The phone must reach this server: see{" "}
          <code className="font-mono">am serve --expose</code>.
        </p>
        {made ? (
          <div className="flex flex-wrap items-center gap-5">
            <img
              alt="The login link as a QR code"
              className="size-44 rounded-lg bg-white p-2"
              src={`data:image/svg+xml;utf8,${encodeURIComponent(made.svg)}`}
            />
            <p className="min-w-0 flex-1 basis-48 font-mono text-xs break-all">{made.url}</p>
          </div>
        ) : (
          <Button onClick={() => link.mutate()} disabled={link.isPending}>
            Make a link
          </Button>
        )}
      </Panel>
    </Section>
  );
}

function Tokens() {
  const client = useQueryClient();
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: () => data(api.GET("/api/v1/tokens")),
  });
  const [making, setMaking] = useState(false);
  const revoke = useMutation({
    mutationFn: (id: string) =>
      data(
        api.DELETE("/api/v1/tokens/{token_id}", {
          params: { path: { token_id: id } },
          headers: once(),
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["tokens"] }),
    onError: (error) => toast.error(error.message),
  });
  return (
    <Section
      title="Tokens and sessions"
      actions={
        <Button size="small" onClick={() => setMaking(true)}>
          New token
        </Button>
      }
    >
      <Await query={tokens}>
        {({ items }) => (
          <Table<Token>
            label="Tokens and sessions"
            rows={items}
            rowKey={(token) => token.id}
            columns={[
              { title: "Name", cell: (token) => token.name },
              { title: "Kind", cell: (token) => <Chip>{token.kind}</Chip> },
              { title: "Role", cell: (token) => token.role, minor: true },
              {
                title: "Last used",
                cell: (token) => (token.used_at ? <Ago time={token.used_at} /> : "never"),
                minor: true,
              },
              {
                title: "",
                right: true,
                cell: (token) =>
                  token.kind !== "owner" && (
                    <Confirm
                      title={`Revoke ${token.name}?`}
                      action="Revoke"
                      onConfirm={() => revoke.mutate(token.id)}
                      trigger={(open) => (
                        <Button size="small" look="quiet" onClick={open}>
                          Revoke…
                        </Button>
                      )}
                    >
                      Whoever uses it is logged out at once.
                    </Confirm>
                  ),
              },
            ]}
          />
        )}
      </Await>
      <NewToken open={making} onClose={() => setMaking(false)} />
    </Section>
  );
}

function NewToken({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("member");
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: () => data(api.POST("/api/v1/tokens", { headers: once(), body: { name, role } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const close = () => {
    make.reset();
    setName("");
    onClose();
  };
  const error = make.error as ApiError | null;
  return (
    <Dialog open={open} onClose={close} title="New token">
      {make.data ? (
        <div className="space-y-3">
          <p>Keep it now; it is not shown again.</p>
          <p className="rounded-lg bg-sunken p-3 font-mono text-xs break-all">{make.data.token}</p>
          <Button look="primary" onClick={close}>
            Done
          </Button>
        </div>
      ) : (
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            make.mutate();
          }}
        >
          <Field label="Whose it is" error={error?.message}>
            {(id) => (
              <Input
                id={id}
                required
                autoFocus
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <Field
            label="Role"
            note="An admin may do everything; a member may not change projects or tokens; a viewer only looks."
          >
            {(id) => (
              <Select id={id} value={role} onChange={(event) => setRole(event.target.value)}>
                <option value="member">member</option>
                <option value="admin">admin</option>
                <option value="viewer">viewer</option>
              </Select>
            )}
          </Field>
          <Button look="primary" type="submit" disabled={make.isPending}>
            Make it
          </Button>
        </form>
      )}
    </Dialog>
  );
}
