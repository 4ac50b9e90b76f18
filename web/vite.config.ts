import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Relative addresses, so that the built app works under any base path.
export default defineConfig({
  base: "./",
  plugins: [react(), tailwindcss()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    outDir: process.env.AM_UI_OUT ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 2000,
  },
  // Workers load parts of their own, as the app does.
  worker: { format: "es" },
  server: { proxy: { "/api": "http://127.0.0.1:4100", "/auth": "http://127.0.0.1:4100" } },
  test: {
    environment: "jsdom",
    setupFiles: ["./src/test-setup.ts"],
    globals: true,
    testTimeout: 30_000, // A busy machine is no fault of what is tested.
  },
});
