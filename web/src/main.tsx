import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Toaster } from "sonner";
import { ApiError, onUnauthenticated } from "@/api/client";
import { keepTrue } from "@/api/live";
import { forgetOldDrafts } from "@/app/drafts";
import { startKeys } from "@/app/keys";
import { startNotices } from "@/app/notify";
import { startTheme, useDark } from "@/app/theme";
import { UnmergedDialog } from "@/features/task/unmerged";
import { makeRouter } from "@/router";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // Events keep answers true; only an unreachable server is asked again, until it answers.
      retry: (failures, error) => error instanceof ApiError && error.offline && failures < 1000,
      retryDelay: 2000,
      networkMode: "always",
      refetchOnWindowFocus: false,
    },
    mutations: { networkMode: "always" },
  },
});
const router = makeRouter(client);

startTheme();
startKeys();
startNotices();
forgetOldDrafts();
keepTrue(client);
onUnauthenticated(() => {
  if (router.state.location.pathname === "/login") return;
  client.clear();
  void router.navigate({
    to: "/login",
    search: { next: router.state.location.href },
    replace: true,
  });
});

function App() {
  const dark = useDark();
  return (
    <>
      <RouterProvider router={router} />
      <UnmergedDialog />
      <Toaster
        theme={dark ? "dark" : "light"}
        position="bottom-center"
        // Above the buttons of a form and the bar of a phone.
        mobileOffset={{ bottom: "9rem" }}
        closeButton
      />
    </>
  );
}

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Tooltip.Provider>
          <App />
        </Tooltip.Provider>
      </QueryClientProvider>
    </StrictMode>,
  );
