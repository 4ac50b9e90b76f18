import { expect, test } from "vitest";
import { decoded, formatOf } from "./lists";

test("a list is known by its file's name, else by how it begins", () => {
  expect(formatOf("title\nDoor", "a.MD")).toBe("md");
  expect(formatOf("- [ ] Door", "a.csv")).toBe("csv");
  expect(formatOf('\n[ {"format": 1}]', "")).toBe("json");
  expect(formatOf("# Shop\n\n1. [x] Door", "notes.txt")).toBe("md");
  expect(formatOf("title,size\nDoor,small", "")).toBe("csv");
});

test("a file that is not UTF-8 is refused", () => {
  expect(decoded(new TextEncoder().encode("Tür").buffer)).toBe("Tür");
  expect(() => decoded(new Uint8Array([0x54, 0xfc, 0x72]).buffer)).toThrow();
});
