import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useDraft } from "@/app/drafts";
import { type Document, written } from "./edits";
import { type Broken, lineOf, readJson } from "./jsonText";
import { pipelineQueries } from "./queries";
import { type Finding, type Shape, shapeOf } from "./shape";

const LINT_MS = 300;

interface Kept {
  text: string;
  /** The version that was changed. */
  base: number;
}

export interface Writing {
  text: string;
  setText: (text: string) => void;
  /** The last that could be read: while the text is broken, the graph shows it. */
  document: Document;
  shape: Shape;
  change: (act: (document: Document) => Document) => void;
  broken: Broken | null;
  findings: Finding[];
  /** Whether the linter has seen what is written now, and finds no error. */
  sound: boolean;
  checking: boolean;
  /** Why the linter could not be asked. */
  trouble: string | null;
  lineAt: (position: string) => number | null;
  dirty: boolean;
  /** The version that the changes began with. */
  base: number;
  forget: () => void;
}

/** A document that is being written: one text, from which the graph, the form and the findings
 * follow, kept in this browser until it is saved. */
export function useDocument(
  id: string,
  version: number,
  saved: Document,
  project: string | undefined,
): Writing {
  const initial = useMemo(() => ({ text: written(saved), base: version }), [saved, version]);
  const draft = useDraft<Kept>(`pipeline:${id}`, initial);
  const { text, base } = draft.value;
  const read = useMemo(() => readJson(text), [text]);
  const good = useRef<Document>(saved);
  if (!read.broken) good.current = asDocument(read.value);
  const document = good.current;
  const shape = useMemo(() => shapeOf(document), [document]);
  const settled = useSettled(text);
  const lintable = !read.broken && settled === text;
  const lint = useQuery({
    ...pipelineQueries.lint({ document, project }),
    enabled: lintable,
  });
  const lines = read.broken ? null : read.lines;
  const fresh = lintable && !lint.isPlaceholderData && lint.data !== undefined;
  return {
    text,
    setText: (next) => draft.set({ text: next, base }),
    document,
    shape,
    change: (act) => draft.set({ text: written(act(document)), base }),
    broken: read.broken ?? null,
    findings: lint.data?.findings ?? [],
    sound: fresh && lint.data?.ok === true,
    checking: !read.broken && !fresh && !lint.error,
    trouble: lintable && lint.error ? lint.error.message : null,
    lineAt: (position) => (lines ? lineOf(lines, position) : null),
    dirty: text !== initial.text,
    base,
    forget: draft.forget,
  };
}

const asDocument = (value: unknown): Document =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Document) : {};

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), LINT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
