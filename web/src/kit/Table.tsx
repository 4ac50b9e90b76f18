import type { ReactNode } from "react";
import { cx } from "./cx";
import { Panel } from "./Page";

/** A small table; on a phone its least columns go, never the page sideways. */
export function Table<T>({
  label,
  columns,
  rows,
  rowKey,
}: {
  label: string;
  columns: {
    title: string;
    cell: (row: T) => ReactNode;
    right?: boolean;
    /** Left out on a phone. */
    minor?: boolean;
  }[];
  rows: T[];
  rowKey: (row: T) => string;
}) {
  const place = (column: { right?: boolean; minor?: boolean }) =>
    cx("px-3 py-2", column.right && "text-right tabular-nums", column.minor && "max-sm:hidden");
  return (
    <Panel className="overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse">
        <thead>
          <tr className="border-b text-left text-xs text-ink-3">
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cx(place(column), "font-medium")}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b last:border-0 hover:bg-hover/50">
              {columns.map((column) => (
                <td
                  key={column.title}
                  className={cx(place(column), "max-w-80 truncate align-middle")}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
