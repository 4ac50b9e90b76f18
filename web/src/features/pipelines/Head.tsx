import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { clean } from "@/kit/text";

export function Head({
  id,
  name,
  chips,
  children,
}: {
  id: string;
  name: string;
  chips?: ReactNode;
  children: ReactNode;
}) {
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b bg-raised px-3 py-1.5">
      <Link to="/pipelines" className="text-ink-2 hover:text-ink hover:underline">
        Pipelines
      </Link>
      <span aria-hidden className="text-ink-3">
        /
      </span>
      <h1 className="min-w-0 truncate text-[15px] font-semibold" title={id}>
        {clean(name) || clean(id)}
      </h1>
      {chips}
      <div className="ml-auto flex flex-wrap items-center gap-1">{children}</div>
    </header>
  );
}
