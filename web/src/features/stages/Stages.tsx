import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { TaskView } from "@/api/client";
import { taskQueries } from "@/features/task/queries";
import { Button } from "@/kit/Button";
import { Panel, Section } from "@/kit/Page";
import { Pre } from "@/kit/Pre";
import { Await, Empty } from "@/kit/State";
import { Ago } from "@/kit/Time";
import { clean, plural } from "@/kit/text";
import { isFields } from "./data";
import { LoopBacks } from "./LoopBacks";
import { Retries } from "./Retries";
import { StageBar } from "./StageBar";
import { StageRow } from "./StageRow";
import { anchor, numberOf, type StageContext, type StageSeen } from "./standing";

const BUILDER = "build-agent";

/** What the stages of a task gave back, asked of each other and were given. */
export function Stages({ view }: { view: TaskView }) {
  const query = useQuery(taskQueries.stages(view.task.id));
  return <Await query={query}>{(found) => <Shown view={view} found={found} />}</Await>;
}

/** For an address that names the stages of a task which has none. */
export function NoStages() {
  return (
    <Empty title="This task has no stages">
      Only tasks of a pipeline with stages, such as <i>staged</i>, have them.
    </Empty>
  );
}

function Shown({ view, found }: { view: TaskView; found: StageContext }) {
  const { stages, loop_backs: loops, retries } = found;
  const ended = view.status.category === "final";
  const hash = useLocation({ select: (location) => location.hash });
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(stages.filter((one) => anchor(one.number) === hash).map((one) => one.number)),
  );
  const ran = stages.filter((one) => one.runs.length > 0);
  const all = ran.length > 0 && ran.every((one) => open.has(one.number));
  const toggle = (number: number) => {
    const next = new Set(open);
    if (!next.delete(number)) next.add(number);
    setOpen(next);
  };
  const show = (stage: StageSeen) => {
    if (stage.runs.length > 0) setOpen(new Set([...open, stage.number]));
    look(anchor(stage.number));
  };
  useEffect(() => {
    if (hash) look(hash);
  }, [hash]);
  return (
    <section aria-label="Stages" className="space-y-6 p-4 text-[13px] sm:p-6">
      <div className="space-y-3">
        <Metadata found={found} started={ran.length > 0} />
        <StageBar stages={stages} ended={ended} show={show} />
      </div>
      <Section title="Request" note="word for word, in every prompt">
        <Pre className="max-h-32 bg-raised font-sans text-[13px]">
          {clean(String(found.context.user_request ?? ""))}
        </Pre>
      </Section>
      <Section
        title="Stages"
        actions={
          ran.length > 0 && (
            <Button
              size="small"
              look="quiet"
              onClick={() => setOpen(new Set(all ? [] : ran.map((one) => one.number)))}
            >
              {all ? "Close all" : "Open all"}
            </Button>
          )
        }
      >
        <Panel className="overflow-hidden">
          <ol className="divide-y">
            {stages.map((stage) => (
              <StageRow
                key={stage.number}
                task={view.task.id}
                stage={stage}
                builders={stage.role === BUILDER ? buildersOf(found) : null}
                ended={ended}
                open={open.has(stage.number)}
                toggle={() => toggle(stage.number)}
              />
            ))}
          </ol>
        </Panel>
      </Section>
      <Section title="Loop-backs" note={loops.length || undefined}>
        {loops.length > 0 ? (
          <LoopBacks items={loops} />
        ) : (
          <p className="text-ink-3">No agent had another run again.</p>
        )}
      </Section>
      <Section title="Retries" note={retries.length || undefined}>
        {retries.length > 0 ? (
          <Retries items={retries} />
        ) : (
          <p className="text-ink-3">Nothing had to be tried again.</p>
        )}
      </Section>
    </section>
  );
}

function Metadata({ found, started }: { found: StageContext; started: boolean }) {
  const about = isFields(found.context.metadata) ? found.context.metadata : {};
  const current = Number(found.context.current_stage);
  if (!started) return <p className="text-ink-2">Nobody has begun; start the task.</p>;
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1">
      <Fact name="Stage">
        {numberOf(current)} · {clean(found.agent)}
      </Fact>
      <Fact name="Started">
        <Ago time={String(about.pipeline_start)} />
      </Fact>
      <Fact name="Last change">
        <Ago time={String(about.last_updated)} />
      </Fact>
      <Fact name="Agents called">{plural(Number(about.total_agent_calls), "time")}</Fact>
      {about.build_agent_cycle != null && (
        <Fact name="Builders">
          wave {String(about.build_agent_cycle)}, number {String(about.build_agent_index)}
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-ink-3">{name}</dt>
      <dd className="font-medium">{children}</dd>
    </div>
  );
}

function buildersOf(found: StageContext): unknown {
  const outputs = found.context.stage_outputs;
  return isFields(outputs) ? outputs.sub_pipeline_results : null;
}

function look(id: string) {
  // After what was opened has its height.
  requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView({ block: "start" }));
}
