import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams, useSearch } from "@tanstack/react-router";
import { queries } from "@/api/queries";
import { Await } from "@/kit/State";
import { Editor } from "./Editor";
import { pipelineQueries } from "./queries";
import { Viewer } from "./Viewer";

/** One pipeline: looked at, walked, or written. A task is shown on the version that it is on. */
export function PipelinePage() {
  const { pipelineId } = useParams({ from: "/frame/pipelines/$pipelineId" });
  const { version, task, edit } = useSearch({ from: "/frame/pipelines/$pipelineId" });
  const view = useQuery({ ...queries.task(task ?? ""), enabled: task !== undefined });
  const wanted = version ?? (task ? view.data?.task.pipeline_version : undefined);
  const pipeline = useQuery({
    ...queries.pipeline(pipelineId, wanted),
    enabled: !task || version !== undefined || !view.isPending,
  });
  const document = useQuery({
    ...pipelineQueries.document(pipelineId, pipeline.data?.version ?? 0),
    enabled: edit === true && pipeline.data !== undefined,
  });
  const taskInFull = view.data?.task.id;
  if (task && taskInFull && task !== taskInFull)
    return (
      <Navigate
        to="/pipelines/$pipelineId"
        params={{ pipelineId }}
        search={(before) => ({ ...before, task: taskInFull })}
        hash
        replace
      />
    );
  return (
    <Await query={pipeline} rows={8}>
      {(found) =>
        edit ? (
          <Await query={document} rows={8}>
            {(text) => (
              <Editor key={`${pipelineId} ${found.version}`} saved={found} document={text} />
            )}
          </Await>
        ) : (
          <Viewer key={pipelineId} pipeline={found} view={task ? view.data : undefined} />
        )
      }
    </Await>
  );
}
