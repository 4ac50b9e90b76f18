import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate } from "@tanstack/react-router";
import { Check, LoaderCircle, Plus, Save, Undo2 } from "lucide-react";
import { useMemo, useState } from "react";
import { toast } from "sonner";
import { type ApiError, api, data, once, type Pipeline } from "@/api/client";
import { useShortcuts } from "@/app/keys";
import { Button } from "@/kit/Button";
import { Chip } from "@/kit/Chip";
import { Confirm } from "@/kit/Confirm";
import { clean, plural } from "@/kit/text";
import { Back } from "./Details";
import { addStatus, type Document, written } from "./edits";
import { FindingCard, FindingList } from "./Findings";
import { Head } from "./Head";
import { JsonView } from "./JsonView";
import { Leaving } from "./Leaving";
import { PanelTabs, TabCount } from "./PanelTabs";
import { PipelineForm } from "./PipelineForm";
import type { Lit } from "./path";
import { ownerOf, pipelineQueries, plainId } from "./queries";
import { SaveAs } from "./SaveAs";
import { Simulate } from "./Simulate";
import { StatusForm } from "./StatusForm";
import { StatusList } from "./StatusList";
import { findingsAt, placed, type Selected } from "./shape";
import { TransitionForm } from "./TransitionForm";
import { useDocument } from "./useDocument";
import { Workbench } from "./Workbench";

type Tab = "form" | "json" | "findings" | "simulate";

/** A pipeline being written, by form or as JSON. Only what lints without errors is saved. */
export function Editor({ saved, document }: { saved: Pipeline; document: Document }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const owner = ownerOf(saved.id);
  const writing = useDocument(saved.id, saved.version, document, owner);
  const { shape, change } = writing;
  const parts = useQuery(pipelineQueries.parts(owner)).data;
  const newest = useQuery(pipelineQueries.versions(saved.id)).data?.items[0]?.version;
  const [tab, setTab] = useState<Tab>("form");
  const [selected, setSelected] = useState<Selected | null>(null);
  const [walk, setWalk] = useState<Lit | null>(null);
  const [savingAs, setSavingAs] = useState(false);
  const findings = useMemo(() => placed(writing.findings), [writing.findings]);
  const errors = writing.findings.filter((one) => one.severity === "error").length;
  const close = () => void navigate({ to: ".", search: (now) => ({ ...now, edit: undefined }) });

  const save = useMutation({
    mutationFn: (body: Document) => data(api.POST("/api/v1/pipelines", { headers: once(), body })),
    onSuccess: ({ pipeline, new: isNew, behind, warnings }) => {
      writing.forget();
      setSavingAs(false);
      void client.invalidateQueries({ queryKey: ["pipelines"] });
      void client.invalidateQueries({ queryKey: ["pipeline", pipeline.id] });
      toast.success(
        [
          isNew
            ? `Saved as version ${pipeline.version} of ${clean(pipeline.id)}.`
            : `Version ${pipeline.version} says the same already.`,
          behind > 0
            ? `${plural(behind, "unfinished task is", "unfinished tasks are")} on older versions; see Versions.`
            : "",
          warnings.length > 0 ? `${plural(warnings.length, "warning")}.` : "",
        ].join(" "),
      );
      void navigate({
        to: "/pipelines/$pipelineId",
        params: { pipelineId: pipeline.id },
        search: (now) => ({ ...now, edit: undefined, version: undefined }),
        ignoreBlocker: true,
      });
    },
    onError: (error: ApiError) => toast.error(clean([error.message, ...error.details].join(" "))),
  });

  // Ids of the product, and of a project's files, cannot be written from here.
  const taken = (id: string) => id.includes("@") || parts?.built_in.includes(id) === true;
  const foreign = owner !== undefined || parts?.built_in.includes(shape.id) === true;
  const savable = writing.sound && !save.isPending && parts !== undefined;
  const begin = () => {
    if (writing.broken || errors > 0) {
      setTab(writing.broken ? "json" : "findings");
      toast.error("It is saved once it has no errors.");
    } else if (savable && foreign) setSavingAs(true);
    else if (savable && writing.dirty) save.mutate(writing.document);
  };
  useShortcuts("Editor", [
    { keys: "Ctrl+s", label: "Save", always: true, run: begin },
    { keys: "a", label: "Add a status", run: () => add() },
  ]);
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) =>
      writing.dirty && !(next.search as { edit?: boolean }).edit && !save.isPending,
    enableBeforeUnload: () => writing.dirty,
    withResolver: true,
  });
  const select = (next: Selected | null) => {
    setSelected(next);
    if (next && tab !== "json" && tab !== "simulate") setTab("form");
  };
  const add = () => {
    change(addStatus);
    select({ kind: "status", index: shape.statuses.length });
  };
  const shown = {
    shape,
    findings,
    counts: null,
    lit: tab === "simulate" ? walk : null,
    onSelect: select,
  };
  const status = selected?.kind === "status" ? shape.statuses[selected.index] : undefined;
  const transition =
    selected?.kind === "transition" ? shape.transitions[selected.index] : undefined;
  return (
    <div className="flex h-full flex-col">
      <Head
        id={saved.id}
        name={shape.name || saved.name}
        chips={
          <>
            <Chip tone="accent">editing</Chip>
            <State writing={writing} errors={errors} />
          </>
        }
      >
        {writing.dirty && (
          <Confirm
            title="Throw your changes away?"
            action="Throw them away"
            onConfirm={writing.forget}
            trigger={(open) => (
              <Button look="quiet" onClick={open}>
                <Undo2 size={14} /> Discard
              </Button>
            )}
          >
            The document becomes version {saved.version} again, as it was saved.
          </Confirm>
        )}
        <Button onClick={close}>Close</Button>
        <Button
          look="primary"
          hint="Ctrl+s"
          disabled={!savable || (!foreign && !writing.dirty)}
          onClick={begin}
        >
          <Save size={14} /> {foreign ? "Save as…" : "Save"}
        </Button>
      </Head>
      {writing.dirty && writing.base < (newest ?? 0) && (
        <p role="status" className="border-b bg-warn-soft px-3 py-1.5 text-warn">
          Version {newest} was saved since you began with version {writing.base}. Saving makes yours
          the newest, without what changed there.
        </p>
      )}
      <Workbench
        {...shown}
        selected={selected}
        roomy
        panelName="Form and JSON"
        panel={
          <PanelTabs
            value={tab}
            onChange={(next) => setTab(next as Tab)}
            tabs={[
              {
                id: "form",
                label: "Form",
                content: writing.broken ? (
                  <p role="alert" className="p-3 text-bad">
                    The JSON is broken on line {writing.broken.line}; mend it there first.
                  </p>
                ) : selected && (status || transition) ? (
                  <div className="min-h-0 flex-1 space-y-3 overflow-y-auto p-3">
                    <Back onClick={() => select(null)} />
                    {findingsAt(findings, selected).map((finding, index) => (
                      <FindingCard key={index} finding={finding} />
                    ))}
                    {status && (
                      <StatusForm
                        key={selected.index}
                        status={status}
                        index={selected.index}
                        shape={shape}
                        change={change}
                        onSelect={select}
                      />
                    )}
                    {transition && (
                      <TransitionForm
                        key={selected.index}
                        one={transition}
                        index={selected.index}
                        shape={shape}
                        parts={parts}
                        change={change}
                        onSelect={select}
                      />
                    )}
                  </div>
                ) : (
                  <>
                    <div className="border-b p-3">
                      <PipelineForm shape={shape} change={change} />
                      <Button className="mt-3" onClick={add} hint="a">
                        <Plus size={14} /> Add a status
                      </Button>
                    </div>
                    <StatusList {...shown} />
                  </>
                ),
              },
              {
                id: "json",
                label: "JSON",
                content: <JsonView writing={writing} place={selected && placeIn(selected)} />,
              },
              {
                id: "findings",
                label: (
                  <>
                    Findings <TabCount number={writing.findings.length} bad={errors > 0} />
                  </>
                ),
                content: (
                  <FindingList
                    findings={writing.findings}
                    lineAt={writing.lineAt}
                    onSelect={select}
                  />
                ),
              },
              {
                id: "simulate",
                label: "Simulate",
                content: (
                  <Simulate
                    shape={shape}
                    form={{ document: writing.document, project: owner }}
                    parts={parts}
                    onPath={setWalk}
                  />
                ),
              },
            ]}
          />
        }
      />
      <SaveAs
        open={savingAs}
        onClose={() => setSavingAs(false)}
        suggested={`my_${plainId(saved.id)}`}
        taken={taken}
        busy={save.isPending}
        onSave={(id, name) => save.mutate({ ...writing.document, id, name })}
        name={shape.name}
        file={owner ? written(writing.document) : null}
      />
      <Leaving blocker={blocker} />
    </div>
  );
}

const placeIn = ({ kind, index }: Selected) =>
  `${kind === "status" ? "statuses" : "transitions"}.${index}`;

/** In words, what stands between this text and its being saved. */
function State({ writing, errors }: { writing: ReturnType<typeof useDocument>; errors: number }) {
  if (writing.broken) return <Chip tone="bad">broken on line {writing.broken.line}</Chip>;
  if (writing.checking)
    return (
      <Chip>
        <LoaderCircle aria-hidden size={11} /> checking
      </Chip>
    );
  if (writing.trouble)
    return (
      <Chip tone="bad" title={clean(writing.trouble)}>
        not checked: {clean(writing.trouble)}
      </Chip>
    );
  if (errors > 0) return <Chip tone="bad">{plural(errors, "error")}</Chip>;
  const warnings = writing.findings.length;
  return (
    <Chip tone={warnings > 0 ? "warn" : "good"}>
      {warnings > 0 ? (
        plural(warnings, "warning")
      ) : (
        <>
          <Check aria-hidden size={11} /> no errors
        </>
      )}
    </Chip>
  );
}
