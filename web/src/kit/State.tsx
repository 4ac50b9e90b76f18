/** What a page shows while it has nothing to show: loading, empty, failed. */
import { CloudOff, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "@/api/client";
import { Button } from "./Button";
import { cx } from "./cx";

export function Loading({ rows = 5, className }: { rows?: number; className?: string }) {
  return (
    <div aria-busy aria-label="Loading" role="status" className={cx("space-y-2 p-4", className)}>
      {Array.from({ length: rows }, (_, index) => (
        <div
          key={index}
          className="h-9 animate-pulse rounded-md bg-hover"
          style={{ width: `${92 - ((index * 17) % 40)}%` }}
        />
      ))}
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-16 text-center">
      {icon && <div className="text-ink-3">{icon}</div>}
      <p className="text-[15px] font-semibold">{title}</p>
      {children && <div className="text-ink-2">{children}</div>}
    </div>
  );
}

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const known = error instanceof ApiError ? error : null;
  const Icon = known?.offline ? CloudOff : TriangleAlert;
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-lg flex-col items-center gap-2 px-6 py-16 text-center"
    >
      <Icon className="text-bad" />
      <p className="text-[15px] font-semibold">
        {known?.offline ? "The server does not answer" : "This could not be shown"}
      </p>
      <p className="text-ink-2">
        {known?.offline
          ? "It may be restarting; this page comes back by itself."
          : error instanceof Error
            ? error.message
            : String(error)}
      </p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

/** The one way a page waits for a query. */
export function Await<T>({
  query,
  children,
  rows,
}: {
  query: { data: T | undefined; error: unknown; refetch: () => unknown };
  children: (data: T) => ReactNode;
  rows?: number;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failed error={query.error} again={() => query.refetch()} />;
  return <Loading rows={rows} />;
}
