import { Chip } from "@/kit/Chip";
import { cx } from "@/kit/cx";
import { Pre } from "@/kit/Pre";
import { clean, shortened } from "@/kit/text";
import {
  columns,
  type Fields,
  full,
  isCode,
  isEmpty,
  isFields,
  isNames,
  isPlain,
  isShort,
  label,
  named,
  type Plain,
  rowsOf,
  toneOf,
} from "./data";

const MOST = 200;
const DEEP = 6;

/** Data of an agent as words, lists and tables. */
export function Shape({
  name,
  value,
  depth = 0,
}: {
  name: string;
  value: unknown;
  depth?: number;
}) {
  if (isPlain(value)) return <Words name={name} value={value} />;
  if (depth > DEEP) return <Pre>{clean(JSON.stringify(value))}</Pre>;
  if (Array.isArray(value)) return <Items name={name} items={value} depth={depth} />;
  return isFields(value) ? <Parts name={name} fields={value} depth={depth} /> : null;
}

function Words({ name, value }: { name: string; value: Plain }) {
  const tone = toneOf(name, value);
  if (tone) return <Chip tone={tone}>{clean(String(value))}</Chip>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (typeof value === "number") return <span className="tabular-nums">{value}</span>;
  const shown = shortened(clean(value));
  const rest = shown.cut > 0 && ` … ${shown.cut} more characters`;
  if (isCode(name) && shown.text.includes("\n"))
    return (
      <Pre className="max-h-64">
        {shown.text}
        {rest}
      </Pre>
    );
  return (
    <span
      className={cx(
        "wrap-anywhere whitespace-pre-wrap",
        isCode(name) && "font-mono text-xs text-ink-2",
      )}
    >
      {shown.text}
      {rest}
    </span>
  );
}

function Items({ name, items, depth }: { name: string; items: unknown[]; depth: number }) {
  const shown = items.filter((one) => !isEmpty(one)).slice(0, MOST);
  const heads = columns(shown);
  const more = items.length > MOST && (
    <p className="pt-1 text-xs text-ink-3">and {items.length - MOST} more</p>
  );
  if (isNames(shown))
    return (
      <span className="flex flex-wrap gap-1">
        {shown.map((one, index) => (
          <code
            key={index}
            className="rounded border bg-sunken px-1.5 font-mono text-xs leading-5 wrap-anywhere"
          >
            {clean(String(one))}
          </code>
        ))}
        {more}
      </span>
    );
  if (heads)
    return (
      <>
        <Grid name={name} heads={heads} rows={shown as Fields[]} />
        {more}
      </>
    );
  if (shown.every(isFields))
    return (
      <>
        <ul className="space-y-2">
          {shown.map((one, index) => (
            <One key={index} what={name} fields={one} index={index} depth={depth} />
          ))}
        </ul>
        {more}
      </>
    );
  return (
    <>
      <ul className="list-disc space-y-0.5 pl-4.5 marker:text-ink-3">
        {shown.map((one, index) => (
          <li key={index}>
            <Shape name={name} value={one} depth={depth + 1} />
          </li>
        ))}
      </ul>
      {more}
    </>
  );
}

/** One thing of a list that is too much for a row. */
function One({
  what,
  fields,
  index,
  depth,
}: {
  what: string;
  fields: Fields;
  index: number;
  depth: number;
}) {
  const [keys, title] = named(fields, what, index);
  const rest = Object.fromEntries(full(fields).filter(([name]) => !keys.includes(name)));
  const judged = full(rest).filter(([name, value]) => toneOf(name, value));
  const told = Object.fromEntries(full(rest).filter(([name, value]) => !toneOf(name, value)));
  return (
    <li className="rounded-lg border bg-raised p-3">
      <p className="mb-1.5 flex flex-wrap items-center gap-2 font-medium">
        <span className="wrap-anywhere">{clean(title)}</span>
        {judged.map(([name, value]) => (
          <Words key={name} name={name} value={value as Plain} />
        ))}
      </p>
      <Parts name={what} fields={told} depth={depth + 1} />
    </li>
  );
}

function Parts({ name, fields, depth }: { name: string; fields: Fields; depth: number }) {
  const rows = rowsOf(fields);
  if (rows) return <Grid name={name} heads={columns(rows) ?? []} rows={rows} />;
  if (depth > 0 && isShort(fields))
    return (
      <dl className="flex flex-wrap gap-x-5 gap-y-1">
        {full(fields).map(([key, value]) => (
          <div key={key} className="flex items-baseline gap-1.5">
            <dt className="text-xs text-ink-3">{label(key)}</dt>
            <dd>
              <Words name={key} value={value as Plain} />
            </dd>
          </div>
        ))}
      </dl>
    );
  return (
    <dl className="space-y-2.5 sm:grid sm:grid-cols-[8.5rem_minmax(0,1fr)] sm:gap-x-4 sm:gap-y-2.5 sm:space-y-0">
      {full(fields).map(([key, value]) => {
        const wide = isFields(value) || (Array.isArray(value) && !isNames(value));
        return (
          <div key={key} className="sm:contents">
            <dt className={cx("text-xs leading-5 text-ink-3", wide && "sm:col-span-2")}>
              {label(key)}
            </dt>
            <dd
              className={cx(
                "min-w-0",
                wide && "sm:col-span-2 sm:-mt-2",
                isFields(value) && "border-l-2 pl-3",
              )}
            >
              <Shape name={key} value={value} depth={depth + 1} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Rows side by side; on a phone each row is a small card. */
function Grid({ name, heads, rows }: { name: string; heads: string[]; rows: Fields[] }) {
  return (
    <table
      aria-label={label(name)}
      className="w-full border-collapse rounded-lg border bg-raised max-sm:block max-sm:border-0 max-sm:bg-transparent"
    >
      <thead className="max-sm:hidden">
        <tr className="border-b text-left text-xs text-ink-3">
          {heads.map((head) => (
            <th key={head} scope="col" className="px-3 py-1.5 font-medium">
              {label(head)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-sm:block max-sm:space-y-2">
        {rows.map((row, index) => (
          <tr
            key={index}
            className="border-b last:border-0 max-sm:block max-sm:rounded-lg max-sm:border max-sm:bg-raised max-sm:px-3 max-sm:py-2 max-sm:last:border"
          >
            {heads.map((head) => (
              <td
                key={head}
                className={cx(
                  "px-3 py-1.5 align-top max-sm:block max-sm:px-0 max-sm:py-0.5",
                  isEmpty(row[head]) && "max-sm:hidden",
                )}
              >
                <span className="mr-2 text-xs text-ink-3 sm:hidden">{label(head)}</span>
                <Shape name={head} value={row[head]} depth={DEEP} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
