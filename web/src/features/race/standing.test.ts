import { describe, expect, test } from "vitest";
import type { Contender, Race } from "./queries";
import { checksOf, mayPick, nameOf, standing } from "./standing";

const run = { id: "r1", status: "completed", started_at: "2026-01-01", ended_at: "2026-01-01" };
const one = (part: object = {}) =>
  ({
    contender: { agent: "codex", model: null },
    run,
    unfit: null,
    checks: { passed: null, ran: [], failed: [] },
    figures: null,
    snapshot: null,
    seconds: 1,
    ...part,
  }) as unknown as Contender;
const race = (part: object = {}) =>
  ({ picked: null, prompt: "p1", contenders: [], ...part }) as unknown as Race;

describe("a contender", () => {
  test("is named by its agent and its model", () => {
    expect(nameOf(one())).toBe("codex");
    expect(nameOf(one({ contender: { agent: "codex", model: "big" } }))).toBe("codex (big)");
  });

  test("stands as its run does", () => {
    expect(standing(race(), one({ run: null })).words).toBe("waits");
    expect(standing(race(), one({ run: { ...run, ended_at: null } })).words).toBe("at work");
    expect(standing(race(), one()).words).toBe("done");
    expect(standing(race({ picked: "r1" }), one()).words).toBe("picked");
    expect(standing(race({ picked: "r2" }), one()).words).toBe("put aside");
    const failed = one({ run: { ...run, status: "failed" }, unfit: "It failed." });
    expect(standing(race(), failed)).toEqual({ tone: "bad", words: "failed" });
  });

  test("has the word of its checks, also that there was none", () => {
    expect(checksOf(one()).words).toBe("none were run");
    const failed = { passed: false, ran: ["test"], failed: ["test"] };
    expect(checksOf(one({ checks: failed })).words).toBe("failed: test");
  });

  test("can be picked while that is asked, or instead of another while that is reviewed", () => {
    expect(mayPick(race(), one(), false)).toBe(true);
    expect(mayPick(race(), one({ unfit: "It failed." }), false)).toBe(false);
    expect(mayPick(race({ prompt: null }), one(), true)).toBe(false);
    expect(mayPick(race({ prompt: null, picked: "r2" }), one(), true)).toBe(true);
    expect(mayPick(race({ prompt: null, picked: "r2" }), one(), false)).toBe(false);
    expect(mayPick(race({ prompt: null, picked: "r1" }), one(), true)).toBe(false);
  });
});
