import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Line, Position } from "./messages";
import type { Hears, Reader } from "./reader";
import { SIZES, TranscriptStore } from "./store";

/** Turns of lines of ten bytes; a stream tells the past at once and the rest when told to. */
class Printed implements Reader {
  open_: { after: Position; hears: Hears }[] = [];
  constructor(
    public turns: number[],
    public over = false,
  ) {}
  extent = async () => ({ turns: this.turns.length, size: this.size_(), removedAt: null });
  size = async (turn: number) => this.turns[turn - 1] ?? 0;
  size_ = () => this.turns.at(-1) ?? 0;
  open = (after: Position | null, hears: Hears) => {
    const stream = { after: after ?? { turn: 1, offset: 0 }, hears };
    this.open_.push(stream);
    queueMicrotask(() => {
      for (let turn = stream.after.turn; turn <= this.turns.length; turn++) {
        const from = turn === stream.after.turn ? stream.after.offset : 0;
        for (let at = from; at < (this.turns[turn - 1] ?? 0); at = at + 10 - (at % 10))
          if (this.open_.includes(stream)) hears.line(piece(turn, at));
      }
      if (this.over && this.open_.includes(stream)) hears.end({ status: "completed", outcome: "" });
    });
    return () => {
      this.open_ = this.open_.filter((one) => one !== stream);
    };
  };
  print() {
    const at = this.size_();
    this.turns[this.turns.length - 1] = at + 10;
    for (const stream of this.open_) stream.hears.line(piece(this.turns.length, at));
  }
}

const piece = (turn: number, offset: number): Line => ({
  turn,
  offset,
  next: offset + 10 - (offset % 10),
  at: null,
  messages: [{ type: "output", text: `${offset}` }],
});

const sizes = { ...SIZES, tail: 55, page: 200, older: 45, limits: { bytes: 300, lines: 30 } };
const rest = () => new Promise((resolve) => setTimeout(resolve, 5));
let store: TranscriptStore;
const offsets = () => store.get().window.lines.map((line) => line.offset);
function of(printed: Printed) {
  store = new TranscriptStore(
    printed,
    sizes,
    (act) => {
      const id = setTimeout(act, 0);
      return () => clearTimeout(id);
    },
    () => 1_000_000,
  );
  return store;
}

beforeEach(() => vi.useRealTimers());
afterEach(() => store.stop());

test("only the end of a long transcript is read, by whole lines", async () => {
  of(new Printed([1000])).start(null);
  await rest();
  expect(offsets()).toEqual([950, 960, 970, 980, 990]);
  expect(store.get().window.above).toBe(true);
  await store.older();
  expect(offsets()[0]).toBe(910);
});

test("the end of a line that is longer than what is read is shown", async () => {
  const printed = new Printed([1000]);
  printed.open = (after, hears) => {
    queueMicrotask(() => hears.line({ ...piece(1, after?.offset ?? 0), next: 1000 }));
    return () => {};
  };
  of(printed).start(null);
  await rest();
  expect(offsets()).toEqual([945]);
});

test("a short end goes back into the turns before", async () => {
  of(new Printed([500, 20])).start(null);
  await rest();
  expect(store.get().window.lines.map((line) => [line.turn, line.offset])).toEqual([
    [1, 470],
    [1, 480],
    [1, 490],
    [2, 0],
    [2, 10],
  ]);
});

test("older turns are read to the very beginning", async () => {
  of(new Printed([20, 30])).start({ turn: 2, offset: 10 });
  await rest();
  await store.older();
  await store.older();
  expect(store.get().window.lines.map((line) => [line.turn, line.offset])).toEqual([
    [1, 0],
    [1, 10],
    [2, 0],
    [2, 10],
    [2, 20],
  ]);
  expect(store.get().window.above).toBe(false);
});

test("from a link on, what follows is read page by page and never all at once", async () => {
  const printed = new Printed([100_000], true);
  of(printed).start({ turn: 1, offset: 500 });
  await rest();
  expect(offsets()[0]).toBe(500);
  expect(store.get().connection).toBe("waits");
  expect(store.get().window.bytes).toBe(200);
  expect(printed.open_).toEqual([]);
  store.newer();
  await rest();
  expect(offsets()[0]).toBe(500);
  expect(store.get().window.bytes).toBe(300);
  store.follow(true);
  store.newer();
  await rest();
  expect(offsets().at(-1)).toBe(990);
  expect(store.get().window.bytes).toBe(300);
});

test("a reader who is elsewhere keeps what is read, and the rest waits", async () => {
  const printed = new Printed([100]);
  of(printed).start(null);
  await rest();
  store.follow(false);
  for (let n = 0; n < 60; n++) {
    printed.print();
    if (n % 5 === 0) await rest();
  }
  await rest();
  expect(offsets()[0]).toBe(50);
  expect(store.get().connection).toBe("waits");
  expect(store.get().unseen).toBeGreaterThan(10);
  expect(printed.open_).toEqual([]);
  store.newest();
  await rest();
  expect(offsets().at(-1)).toBe(690);
  expect(store.get().unseen).toBe(0);
});

test("a reader at the end sees all that comes, and the beginning goes", async () => {
  const printed = new Printed([100]);
  of(printed).start(null);
  await rest();
  for (let n = 0; n < 60; n++) printed.print();
  await rest();
  expect(offsets().at(-1)).toBe(690);
  expect(store.get().window.lines.length).toBe(30);
  expect(store.get().heardAt).toBe(1_000_000);
});

test("lines of one frame are one change", async () => {
  const printed = new Printed([50]);
  of(printed).start(null);
  await rest();
  const told = vi.fn();
  store.subscribe(told);
  for (let n = 0; n < 100; n++) printed.print();
  await rest();
  expect(told).toHaveBeenCalledTimes(1);
});

test("a page that is not seen holds no connection, and goes on where it was", async () => {
  const printed = new Printed([50]);
  of(printed).start(null);
  await rest();
  store.hide();
  expect(printed.open_).toEqual([]);
  printed.print();
  store.show();
  await rest();
  expect(offsets()).toEqual([0, 10, 20, 30, 40, 50]);
  expect(printed.open_.length).toBe(1);
});

test("the end of the run is told and closes the connection", async () => {
  of(new Printed([30], true)).start(null);
  await rest();
  expect(store.get().connection).toBe("ended");
  expect(offsets()).toEqual([0, 10, 20]);
});
