import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "am:theme";
const watchers = new Set<() => void>();
const dark = window.matchMedia?.("(prefers-color-scheme: dark)");

function chosen(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function isDark(): boolean {
  const theme = chosen();
  return theme === "dark" || (theme === "system" && !!dark?.matches);
}

function show() {
  document.documentElement.classList.toggle("dark", isDark());
  for (const tell of watchers) tell();
}

export function startTheme() {
  show();
  dark?.addEventListener("change", show);
}

export function setTheme(theme: Theme) {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  show();
}

function watch(tell: () => void) {
  watchers.add(tell);
  return () => watchers.delete(tell);
}

export const useTheme = () => useSyncExternalStore(watch, chosen);
export const useDark = () => useSyncExternalStore(watch, isDark);
