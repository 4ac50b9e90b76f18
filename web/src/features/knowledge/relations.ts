import type { Schemas } from "@/api/client";

export type EdgeKind = Schemas["RelatedNode"]["kind"];

const WORDS: Record<EdgeKind, [outward: string, inward: string]> = {
  found_by: ["found by", "found"],
  contradicts: ["contradicts", "contradicted by"],
  answers: ["answers", "answered by"],
  follows: ["builds on", "is built on by"],
};

export const relationOf = (kind: EdgeKind, outward: boolean) => WORDS[kind][outward ? 0 : 1];
