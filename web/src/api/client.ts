import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Task = Schemas["Task"];
export type TaskView = Schemas["TaskView"];
export type Run = Schemas["Run"];
export type Prompt = Schemas["Prompt"];
export type InboxItem = Schemas["InboxItem"];
export type Event = Schemas["Event"];
export type Pipeline = Schemas["Pipeline"];
export type Project = Schemas["Project"];

/** Where the app lives: the `<base>` that the server wrote, without its last slash. */
export const BASE = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** A refusal or failure of the server, or of the way to it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: string[] = [],
  ) {
    super(message);
  }
  get offline() {
    return this.status === 0;
  }
}

const unauthenticated = new Set<() => void>();
export function onUnauthenticated(tell: () => void): () => void {
  unauthenticated.add(tell);
  return () => unauthenticated.delete(tell);
}

const errors: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return undefined;
    if (response.status === 401) for (const tell of unauthenticated) tell();
    const body = await response.json().catch(() => null);
    throw new ApiError(
      response.status,
      body?.error ?? "Error",
      body?.message ?? `The server answered ${response.status}.`,
      body?.details ?? [],
    );
  },
  onError({ error }) {
    if (error instanceof ApiError || (error as Error)?.name === "AbortError") return error as Error;
    return new ApiError(0, "Offline", "The server does not answer.");
  },
};

export const api = createClient<paths>({ baseUrl: BASE, credentials: "same-origin" });
api.use(errors);

/** The answer's data; failures have been thrown already. */
export async function data<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}

/** A header for a write, so that sending it twice does it once. */
export function once(key: string = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`) {
  return { "Idempotency-Key": key };
}
