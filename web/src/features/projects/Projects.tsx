import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FolderGit2, Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Project } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { Dialog } from "@/kit/Dialog";
import { Field, Input } from "@/kit/Field";
import { Page, Panel } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";

export function Projects() {
  const projects = useQuery(queries.projects());
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="Projects"
      note="Git repositories that agents work at."
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={15} /> Add a project
        </Button>
      }
    >
      <Await query={projects}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon={<FolderGit2 size={28} />} title="No project yet">
              Add a git repository of the machine that runs the server.
            </Empty>
          ) : (
            <div className="space-y-3">
              {items.map((project) => (
                <One key={project.id} project={project} />
              ))}
            </div>
          )
        }
      </Await>
      <Add open={adding} onClose={() => setAdding(false)} />
    </Page>
  );
}

function useChange<T>(act: (given: T) => Promise<unknown>, done: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => {
      toast.success(done);
      void client.invalidateQueries({ queryKey: ["projects"] });
    },
    onError: (error: ApiError) => toast.error([error.message, ...error.details].join(" ")),
  });
}

function One({ project }: { project: Project }) {
  const at = () => ({ params: { path: { project_id: project.id } }, headers: once() });
  const trust = useChange(
    () => data(api.POST("/api/v1/projects/{project_id}/trust", at())),
    "Its commands may run as they stand now.",
  );
  const consent = useChange(
    (given: boolean) =>
      data(
        given
          ? api.POST("/api/v1/projects/{project_id}/consent", at())
          : api.DELETE("/api/v1/projects/{project_id}/consent", at()),
      ),
    "Noted.",
  );
  const remove = useChange(
    () => data(api.DELETE("/api/v1/projects/{project_id}", at())),
    `${project.name} is forgotten; its repository is as it was.`,
  );
  return (
    <Panel className="space-y-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-[15px] font-semibold">{project.name}</h2>
        <Chip>{project.base_branch}</Chip>
        {project.config_errors.length > 0 && <Chip tone="bad">settings are broken</Chip>}
        {!project.commands_trusted && <Chip tone="warn">commands not trusted</Chip>}
        <div className="ml-auto flex gap-2">
          <Button asChild size="small">
            <Link to="/board" search={{ project: project.name }}>
              Board
            </Link>
          </Button>
          <Button asChild size="small">
            <Link to="/settings" search={{ project: project.name, section: "project" }}>
              Settings
            </Link>
          </Button>
          <Confirm
            title={`Forget ${project.name}?`}
            action="Forget the project"
            onConfirm={() => remove.mutate(undefined)}
            trigger={(open) => (
              <Button size="small" look="quiet" onClick={open}>
                Forget…
              </Button>
            )}
          >
            Its repository is left as it is. A project that has tasks is kept.
          </Confirm>
        </div>
      </div>
      <p className="font-mono text-xs break-all text-ink-2">{project.path}</p>
      {project.config_errors.length > 0 && (
        <div role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
          <p className="font-medium">
            {project.config_kept
              ? "The settings are broken; those from before stay in force."
              : "The settings are broken; nothing is started until they are corrected."}
          </p>
          <ul className="list-disc pl-5">
            {project.config_errors.map((error) => (
              <li key={error}>{error}</li>
            ))}
          </ul>
        </div>
      )}
      {!project.commands_trusted && (
        <div className="space-y-2 rounded-lg bg-warn-soft p-3">
          <p className="font-medium text-warn">
            The project&apos;s commands changed since they were trusted; they do not run until you
            have looked at them.
          </p>
          <ul className="list-disc pl-5 font-mono text-xs break-all">
            {project.changed_commands.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
          <Confirm
            danger={false}
            title={`Trust the commands of ${project.name}?`}
            action="Trust them"
            onConfirm={() => trust.mutate(undefined)}
            trigger={(open) => (
              <Button size="small" onClick={open}>
                Trust them as they stand
              </Button>
            )}
          >
            They run on this machine with your rights, whenever an agent works at the project.
          </Confirm>
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2 text-ink-2">
        {project.consented_at ? (
          <>
            Agents may work here without a sandbox, with the rights of the server.
            <Button size="small" look="quiet" onClick={() => consent.mutate(false)}>
              Take that back
            </Button>
          </>
        ) : (
          <>
            Agents may not work here without a sandbox.
            <Confirm
              danger={false}
              title="Let agents work without a sandbox?"
              action="Allow it"
              onConfirm={() => consent.mutate(true)}
              trigger={(open) => (
                <Button size="small" onClick={open}>
                  Allow it…
                </Button>
              )}
            >
              An agent then reads and writes with your rights. Every such run says “unsandboxed”.
            </Confirm>
          </>
        )}
      </div>
    </Panel>
  );
}

function Add({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [path, setPath] = useState("");
  const [name, setName] = useState("");
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/projects", { headers: once(), body: { path, name: name || undefined } }),
      ),
    onSuccess: (project) => {
      toast.success(`${project.name} is there.`);
      setPath("");
      setName("");
      void client.invalidateQueries({ queryKey: ["projects"] });
      onClose();
    },
  });
  const error = add.error as ApiError | null;
  return (
    <Dialog open={open} onClose={onClose} title="Add a project">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <Field
          label="Repository"
          note="The absolute path of a git repository on the machine that runs the server. Its commands, as they stand now, may run from then on."
          error={error ? [error.message, ...error.details].join(" ") : undefined}
        >
          {(id) => (
            <Input
              id={id}
              required
              autoFocus
              placeholder="/home/me/shop"
              value={path}
              onChange={(event) => setPath(event.target.value)}
            />
          )}
        </Field>
        <Field label="Name" note="That of its folder unless given.">
          {(id) => <Input id={id} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={add.isPending}>
            Add it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
