import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { api, data, once } from "@/api/client";
import { told } from "@/features/task/useActions";
import type { NodeView } from "./queries";

const at = (id: string) => ({ params: { path: { node_id: id } }, headers: once() });

/** What people do with findings; refusals are told in the server's words. */
export function useCare() {
  const client = useQueryClient();
  const common = (done: string) => ({
    onSuccess: (view: NodeView) => {
      client.setQueryData(["knowledge", "node", view.node.id], view);
      toast.success(done);
    },
    onError: (error: Error) => void toast.error(told(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ["knowledge"] }),
  });
  const confirm = useMutation({
    ...common("It holds, as of now."),
    mutationFn: (id: string) => data(api.POST("/api/v1/knowledge/nodes/{node_id}/confirm", at(id))),
  });
  const retire = useMutation({
    ...common("It is retired; agents are not told it any more."),
    mutationFn: ({ id, reason }: { id: string; reason: string }) =>
      data(api.POST("/api/v1/knowledge/nodes/{node_id}/retire", { ...at(id), body: { reason } })),
  });
  const contradict = useMutation({
    ...common("Both are in doubt, until somebody says which holds."),
    mutationFn: ({ id, other, reason }: { id: string; other: string; reason: string }) =>
      data(
        api.POST("/api/v1/knowledge/nodes/{node_id}/contradict", {
          ...at(id),
          body: { other, reason },
        }),
      ),
  });
  return { confirm, retire, contradict };
}

export type Care = ReturnType<typeof useCare>;
