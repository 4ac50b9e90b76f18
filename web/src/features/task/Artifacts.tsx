import { Link } from "@tanstack/react-router";
import {
  FileText,
  GitBranch,
  GitCommitHorizontal,
  GitPullRequest,
  LogIn,
  SquareDot,
} from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Button } from "@/kit/Button";
import { Panel, Section } from "@/kit/Page";
import { Ago } from "@/kit/Time";
import { clean } from "@/kit/text";

type Artifact = Schemas["Artifact"];
const ICONS = {
  branch: GitBranch,
  commit: GitCommitHorizontal,
  pull_request: GitPullRequest,
  diff: SquareDot,
  document: FileText,
  link: LogIn,
};
const MOST = 12;

/** What came of the task: branch, commits, diff, pull request, documents; the newest first. */
export function Artifacts({ artifacts }: { artifacts: Artifact[] }) {
  const [all, setAll] = useState(false);
  const newest = [...artifacts].reverse();
  return (
    <Section title="Artifacts" note={artifacts.length}>
      <Panel className="divide-y">
        {newest.slice(0, all ? 500 : MOST).map((one) => (
          <Line key={one.id} artifact={one} />
        ))}
        {newest.length > MOST && !all && (
          <Button look="quiet" className="w-full" onClick={() => setAll(true)}>
            Show all {newest.length}
          </Button>
        )}
      </Panel>
    </Section>
  );
}

function Line({ artifact }: { artifact: Artifact }) {
  const Icon = ICONS[artifact.type];
  const label = clean(artifact.label);
  const changes = artifact.type === "diff" || artifact.type === "pull_request";
  const sha = artifact.type === "commit" ? String(artifact.data.sha ?? "").slice(0, 8) : "";
  return (
    <div className="flex min-h-9 items-center gap-2.5 px-3 py-1">
      <Icon size={14} className="shrink-0 text-ink-3" aria-label={artifact.type} />
      <span className="min-w-0 flex-1 truncate" title={label}>
        {changes ? (
          <Link
            to="."
            search={(before) => ({ ...before, tab: "changes" })}
            className="text-accent-text hover:underline"
          >
            {label}
          </Link>
        ) : (
          <span className={artifact.type === "branch" ? "font-mono text-xs" : ""}>{label}</span>
        )}
      </span>
      {sha && <code className="font-mono text-xs text-ink-3">{sha}</code>}
      <span className="shrink-0 text-xs text-ink-3">
        <Ago time={artifact.created_at} />
      </span>
    </div>
  );
}
