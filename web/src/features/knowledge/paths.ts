import type { Schemas } from "@/api/client";

export interface MappedPath {
  path: string;
  notes: Schemas["MappedFile"][];
}

/** Lines of the map, which come by path, under the file that they are of. */
export function byFile(items: Schemas["MappedFile"][]): MappedPath[] {
  const files: MappedPath[] = [];
  for (const one of items) {
    const last = files.at(-1);
    if (last?.path === one.note.path) last.notes.push(one);
    else files.push({ path: one.note.path, notes: [one] });
  }
  return files;
}

/** The folders that a file is in, from the outside in. */
export function foldersOf(path: string): { name: string; path: string }[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((name, index) => ({ name, path: parts.slice(0, index + 1).join("/") }));
}
