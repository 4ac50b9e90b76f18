import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Panel } from "@/kit/Page";
import { Await, Empty } from "@/kit/State";
import { clean } from "@/kit/text";
import { Frame, OfProject } from "./Frame";
import { KindChip, NodeLink, SeverityChip, StateChip, Worth } from "./look";
import { type KnowledgeNode, knowledge } from "./queries";
import { RetireDialog } from "./RetireDialog";
import { pairsOnce } from "./results";
import { type Care, useCare } from "./useCare";

/** What somebody should look at, and why; most of it is settled here. */
export function Queue() {
  return (
    <Frame>
      <OfProject>{(project) => <Items project={project} />}</OfProject>
    </Frame>
  );
}

function Items({ project }: { project: string }) {
  const queue = useQuery(knowledge.queue(project));
  const care = useCare();
  const [retiring, setRetiring] = useState<{ node: KnowledgeNode; why: string } | null>(null);
  return (
    <div className="mx-auto w-full max-w-4xl space-y-3 p-4 sm:p-6">
      <Await query={queue}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon={<Sparkles size={28} />} title="Nothing to look at">
              Findings that are stale, contradicted, there twice, or told in vain come here.
            </Empty>
          ) : (
            pairsOnce(items).map((one) => (
              <Item
                key={`${one.node.id} ${one.other?.id}`}
                item={one}
                care={care}
                retire={(node) => setRetiring({ node, why: whyOf(one, node) })}
              />
            ))
          )
        }
      </Await>
      {retiring && (
        <RetireDialog
          node={retiring.node}
          suggested={retiring.why}
          retire={care.retire}
          onClose={() => setRetiring(null)}
        />
      )}
    </div>
  );
}

/** A reason to begin with, where another says the same or the opposite. */
function whyOf({ node, other }: Schemas["ToCurate"], retired: KnowledgeNode): string {
  const left = other && (retired.id === node.id ? other : node);
  if (!left) return "";
  const against = retired.state === "contradicted";
  return `${against ? "This holds instead" : "The same is said by"}: ${clean(left.text).slice(0, 200)}`;
}

function Item({
  item: { node, other, reason },
  care,
  retire,
}: {
  item: Schemas["ToCurate"];
  care: Care;
  retire: (node: KnowledgeNode) => void;
}) {
  const part = (one: KnowledgeNode) => (
    <div key={one.id} className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-72 space-y-1">
        <p>
          <NodeLink node={one} />
        </p>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
          <KindChip kind={one.kind} />
          {one.severity && <SeverityChip severity={one.severity} />}
          {one.state !== "active" && <StateChip state={one.state} />}
          <Worth used={one.used} helpful={one.helpful} />
        </div>
      </div>
      <div className="flex gap-2">
        <Button
          size="small"
          look="good"
          disabled={care.confirm.isPending}
          onClick={() => care.confirm.mutate(one.id)}
          aria-label={`It holds: ${clean(one.text)}`}
        >
          It holds
        </Button>
        <Button
          size="small"
          look="danger"
          onClick={() => retire(one)}
          aria-label={`Retire: ${clean(one.text)}`}
        >
          Retire…
        </Button>
      </div>
    </div>
  );
  return (
    <Panel>
      <article aria-label={clean(node.text)}>
        <h2 className="border-b bg-sunken px-4 py-2 text-xs font-medium text-ink-2 wrap-anywhere first:rounded-t-xl">
          {clean(reason)}
        </h2>
        <div className="divide-y">
          {part(node)}
          {other && part(other)}
        </div>
      </article>
    </Panel>
  );
}
