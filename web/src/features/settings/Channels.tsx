import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { api, data, once, type Schemas } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Dialog } from "@/kit/Dialog";
import { Field, Input, Select } from "@/kit/Field";
import { Panel, Section } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { Table } from "@/kit/Table";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";

type Channel = Schemas["Channel"];

const NAMES: Record<string, string> = {
  telegram: "Telegram",
  slack: "Slack",
  desktop: "Desktop",
  webhook: "Webhook",
  push: "Browsers",
};
const WHAT: Record<string, string> = {
  telegram: "Questions with buttons from a bot of yours; answers by a press or a reply.",
  slack: "Questions with buttons in Slack; answers by a press, a form or a thread.",
  desktop: "Notices on the desktop of the machine that the server runs on.",
  webhook: "Signed requests to a program of yours, which may answer.",
  push: "Notices in browsers that asked for them under This browser, also while no page is open.",
};
/** Where people answer by an identity of their own. */
const CHATS = new Set(["telegram", "slack", "webhook"]);

export function Channels() {
  const me = useQuery(queries.me());
  const channels = useQuery({
    queryKey: ["channels"],
    queryFn: () => data(api.GET("/api/v1/channels")),
    enabled: me.data?.admin === true,
  });
  if (me.data && !me.data.admin)
    return <Empty title="For admins">Channels are set up by people with the role admin.</Empty>;
  return (
    <Await query={channels} rows={4}>
      {({ items }) => items.map((one) => <One key={one.name} channel={one} />)}
    </Await>
  );
}

function One({ channel }: { channel: Channel }) {
  const client = useQueryClient();
  const changed = () => void client.invalidateQueries({ queryKey: ["channels"] });
  const test = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/channels/{name}/test", {
          params: { path: { name: channel.name } },
          headers: once(),
        }),
      ),
    onSuccess: ({ speaks_as, places }) =>
      toast.success(`Sent to ${plural(places.length, "place")} as ${clean(speaks_as)}`),
    onError: (error) => toast.error(error.message),
    onSettled: changed,
  });
  const turn = useMutation({
    mutationFn: () =>
      data(
        api.PATCH("/api/v1/settings", {
          headers: once(),
          body: { set: { [`notifications.${channel.name}.enabled`]: !channel.enabled } },
        }),
      ),
    onError: (error) => toast.error(error.message),
    onSettled: changed,
  });
  const told = [
    `${channel.sent} sent`,
    channel.waiting > 0 && `${channel.waiting} waiting`,
    channel.failed > 0 && `${channel.failed} refused`,
  ].filter(Boolean);
  return (
    <Section
      title={NAMES[channel.name] ?? channel.name}
      note={<State channel={channel} />}
      actions={
        <>
          <Button size="small" disabled={turn.isPending} onClick={() => turn.mutate()}>
            {channel.enabled ? "Turn off" : "Turn on"}
          </Button>
          <Button size="small" disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? "Sending…" : "Send a test"}
          </Button>
        </>
      }
    >
      <Panel className="space-y-2 p-4">
        <p className="text-ink-2">{WHAT[channel.name]}</p>
        {channel.trouble && <p className="text-warn wrap-anywhere">{clean(channel.trouble)}</p>}
        {channel.error && (
          <p className="text-bad wrap-anywhere">Last trouble: {clean(channel.error)}</p>
        )}
        <p className="text-xs text-ink-3">
          {told.join(", ")} · tells of {channel.events.join(", ") || "nothing"}
        </p>
      </Panel>
      {CHATS.has(channel.name) && <People channel={channel} onChange={changed} />}
    </Section>
  );
}

function State({ channel }: { channel: Channel }) {
  if (!channel.enabled) return <Chip>off</Chip>;
  if (channel.trouble) return <Chip tone="warn">not set up</Chip>;
  return channel.error ? <Chip tone="bad">in trouble</Chip> : <Chip tone="good">on</Chip>;
}

type Row = { id: string; name: string; role?: string; times?: number; last?: string };

function People({ channel, onChange }: { channel: Channel; onChange: () => void }) {
  const [letting, setLetting] = useState<Row>();
  const deny = useMutation({
    mutationFn: (person: string) =>
      data(
        api.DELETE("/api/v1/channels/{name}/people/{person}", {
          params: { path: { name: channel.name, person } },
          headers: once(),
        }),
      ),
    onError: (error) => toast.error(error.message),
    onSettled: onChange,
  });
  const rows: Row[] = [
    ...Object.entries(channel.people).map(([id, who]) => ({ id, ...who })),
    ...channel.strangers.map((one) => ({
      id: one.person,
      name: one.called,
      times: one.times,
      last: one.last_at,
    })),
  ];
  return (
    <>
      {rows.length > 0 && (
        <Table<Row>
          label={`People of ${NAMES[channel.name]}`}
          rows={rows}
          rowKey={(row) => row.id}
          columns={[
            { title: "Name", cell: (row) => clean(row.name) },
            {
              title: "Id",
              cell: (row) => <span className="font-mono">{row.id}</span>,
              minor: true,
            },
            {
              title: "Role",
              cell: (row) =>
                row.role ?? (
                  <Chip tone="warn" title="They wrote here and got no answer.">
                    not known, {plural(row.times ?? 0, "try", "tries")}
                  </Chip>
                ),
            },
            { title: "Last", cell: (row) => row.last && <Ago time={row.last} />, minor: true },
            {
              title: "",
              right: true,
              cell: (row) =>
                row.role ? (
                  <Button size="small" onClick={() => deny.mutate(row.id)}>
                    Remove
                  </Button>
                ) : (
                  <Button size="small" onClick={() => setLetting(row)}>
                    Let in…
                  </Button>
                ),
            },
          ]}
        />
      )}
      <Button size="small" onClick={() => setLetting({ id: "", name: "" })}>
        Let somebody in…
      </Button>
      {letting && (
        <LetIn
          channel={channel}
          row={letting}
          onClose={() => setLetting(undefined)}
          onDone={onChange}
        />
      )}
    </>
  );
}

function LetIn({
  channel,
  row,
  onClose,
  onDone,
}: {
  channel: Channel;
  row: Row;
  onClose: () => void;
  onDone: () => void;
}) {
  const [id, setId] = useState(row.id);
  const [name, setName] = useState(clean(row.name));
  const [role, setRole] = useState("admin");
  const allow = useMutation({
    mutationFn: () =>
      data(
        api.PUT("/api/v1/channels/{name}/people/{person}", {
          params: { path: { name: channel.name, person: id } },
          headers: once(),
          body: { name, role },
        }),
      ),
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Let somebody in by ${NAMES[channel.name]}`}
      description="They are known by their id alone: names can be taken over by others."
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          allow.mutate();
        }}
      >
        <Field label="Id" error={allow.error?.message}>
          {(field) => (
            <Input id={field} required value={id} onChange={(e) => setId(e.target.value.trim())} />
          )}
        </Field>
        <Field label="Name">
          {(field) => (
            <Input id={field} required value={name} onChange={(e) => setName(e.target.value)} />
          )}
        </Field>
        <Field label="Role">
          {(field) => (
            <Select id={field} value={role} onChange={(e) => setRole(e.target.value)}>
              <option value="admin">admin: answers everything</option>
              <option value="member">member: answers what is open to all</option>
              <option value="viewer">viewer: looks only</option>
            </Select>
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={allow.isPending}>
            Let them in
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
