/** One transcript as it is read: where it is live it grows, some times a second. */
import { ApiError } from "@/api/client";
import type { Line, Position } from "./messages";
import type { Ended, Extent, Reader } from "./reader";
import { appended, EMPTY, LIMITS, prepended, type Window } from "./window";

export const SIZES = { tail: 512 * 1024, page: 1024 * 1024, older: 256 * 1024, limits: LIMITS };
const AGAIN_MS = 3000;
const MOMENT_MS = 200;

/** `waits`: there is more, which is read as the reader gets there. */
export type Connection = "opening" | "live" | "lost" | "waits" | "ended";

export interface State {
  window: Window;
  connection: Connection;
  ended: Ended | null;
  removedAt: string | null;
  error: Error | null;
  /** When a line was last seen to come. */
  heardAt: number | null;
  /** Lines that came while the reader was elsewhere. */
  unseen: number;
  older: boolean;
}
const FRESH: State = {
  window: EMPTY,
  connection: "opening",
  ended: null,
  removedAt: null,
  error: null,
  heardAt: null,
  unseen: 0,
  older: false,
};

/** In the next frame, and no sooner than a moment after the last time: lines that rush by can be
 * read no faster. */
function frames(): (act: () => void) => () => void {
  let last = Number.NEGATIVE_INFINITY;
  return (act) => {
    let id = 0;
    const draw = () => {
      id = requestAnimationFrame((now) => {
        last = now;
        act();
      });
    };
    const timer = setTimeout(draw, Math.max(0, last + MOMENT_MS - performance.now()));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(id);
    };
  };
}

export class TranscriptStore {
  private state = FRESH;
  private watchers = new Set<() => void>();
  private pending: Line[] = [];
  private unframe: (() => void) | null = null;
  private unstream: (() => void) | null = null;
  private retry: ReturnType<typeof setTimeout> | undefined;
  /** What an answer is for; those to questions of before are dropped. */
  private generation = 0;
  private following = true;
  private read = 0;

  constructor(
    private reader: Reader,
    private sizes = SIZES,
    private schedule = frames(),
    private now = Date.now,
  ) {}

  subscribe = (tell: () => void) => {
    this.watchers.add(tell);
    return () => this.watchers.delete(tell);
  };
  get = () => this.state;

  private set(part: Partial<State>) {
    this.state = { ...this.state, ...part };
    for (const tell of this.watchers) tell();
  }

  /** Begins at a line, or so that the end is seen. */
  start(link: Position | null) {
    this.close();
    this.following = link === null;
    this.set(FRESH);
    void this.connect(link, link === null);
  }

  stop() {
    this.close();
  }

  /** A page that nobody sees holds no connection. */
  hide() {
    if (this.state.connection !== "ended") this.close();
  }

  show() {
    if (this.state.connection === "ended" || this.unstream) return;
    void this.connect(this.last(), this.following);
  }

  newest() {
    this.start(null);
  }

  /** Whether the reader is at the end, and wants to stay there. */
  follow(on: boolean) {
    this.following = on;
    if (on && this.state.unseen) this.set({ unseen: 0 });
  }

  /** More of what waits after the end of what is held. */
  newer() {
    if (this.state.connection === "waits") void this.connect(this.last(), false);
  }

  async older() {
    const first = this.state.window.lines[0];
    if (!first || !this.state.window.above || this.state.older) return;
    const generation = this.generation;
    this.set({ older: true });
    try {
      const lines = await this.before(first);
      if (generation !== this.generation && this.state.window.lines[0] !== first) return;
      const window = prepended(this.state.window, lines, this.sizes.limits);
      if (window.below && !this.state.window.below) this.wait(window);
      else this.set({ window });
    } catch (error) {
      if (!(error instanceof ApiError && error.offline)) this.set({ error: error as Error });
    } finally {
      this.set({ older: false });
    }
  }

  private last(): Position | null {
    const line = this.state.window.lines.at(-1);
    return line ? { turn: line.turn, offset: line.next } : null;
  }

  private close() {
    this.generation++;
    clearTimeout(this.retry);
    this.unframe?.();
    this.unframe = null;
    this.unstream?.();
    this.unstream = null;
    this.pending = [];
  }

  /** Follows from a place on; `near` where the end matters more than what lies between. */
  private async connect(from: Position | null, near: boolean) {
    this.close();
    const generation = this.generation;
    this.set({ connection: "opening", error: null });
    let extent: Extent;
    let start = from;
    let guessed = false;
    try {
      extent = await this.reader.extent();
      if (near && this.isFar(from, extent)) {
        start = await this.tail(extent);
        guessed = start.offset > 0;
      }
    } catch (error) {
      if (generation === this.generation) this.failed(error as Error);
      return;
    }
    if (generation !== this.generation) return;
    if (extent.removedAt) {
      this.set({ removedAt: extent.removedAt, connection: "ended" });
      return;
    }
    if (start !== from || this.state.window.lines.length === 0)
      this.set({ window: { ...EMPTY, above: !!start && (start.turn > 1 || start.offset > 0) } });
    else this.set({ window: { ...this.state.window, below: false } });
    this.listen(start, extent, guessed);
  }

  private listen(start: Position | null, extent: Extent, guessed: boolean) {
    // A place that was guessed lies within a line, of which only the end would be seen.
    let skip = guessed;
    this.read = 0;
    this.set({ connection: "live" });
    this.unstream = this.reader.open(start, {
      open: () => this.state.connection === "lost" && this.set({ connection: "live" }),
      line: (line) => {
        const skipped = skip;
        skip = false;
        // It is better than nothing where nothing follows it.
        if (skipped && (line.turn < extent.turns || line.next < extent.size)) return;
        const past =
          line.turn < extent.turns || (line.turn === extent.turns && line.offset < extent.size);
        this.pending.push(past ? line : { ...line, at: this.now() });
        this.unframe ??= this.schedule(() => this.flush());
      },
      end: (ended) => {
        this.flush();
        if (this.state.connection !== "waits")
          this.set({ ended, removedAt: ended.removed_at ?? null, connection: "ended" });
      },
      lost: (refused) => {
        this.set({ connection: "lost" });
        if (refused) this.again();
      },
    });
  }

  private flush() {
    this.unframe?.();
    this.unframe = null;
    const lines = this.fitting(this.pending);
    const waits = lines.length < this.pending.length;
    this.pending = [];
    const { unseen, heardAt } = this.state;
    const window = appended(this.state.window, lines, this.sizes.limits);
    if (lines.length > 0)
      this.set({
        window,
        heardAt: lines.at(-1)?.at ?? heardAt,
        unseen: this.following ? 0 : unseen + lines.filter((line) => line.at !== null).length,
      });
    if (waits) this.wait({ ...window, below: true });
  }

  /** Of lines that came, those that are taken in: a page of the past at a time, and for a reader
   * who is elsewhere no more than leaves in place what is read. */
  private fitting(lines: Line[]): Line[] {
    const { bytes, lines: held } = this.state.window;
    const room = this.following ? Number.POSITIVE_INFINITY : this.sizes.limits.bytes - bytes;
    const rows = this.following ? lines.length : this.sizes.limits.lines - held.length;
    let taken = 0;
    const end = lines.findIndex((line, index) => {
      taken += line.next - line.offset;
      this.read += line.next - line.offset;
      return index >= rows || taken > room || (line.at === null && this.read > this.sizes.page);
    });
    return end < 0 ? lines : lines.slice(0, end);
  }

  private wait(window: Window) {
    this.close();
    this.set({ window, connection: "waits" });
  }

  private failed(error: Error) {
    if (error instanceof ApiError && error.offline) {
      this.set({ connection: "lost" });
      this.again();
    } else this.set({ error, connection: "ended" });
  }

  private again() {
    const [last, near] = [this.last(), this.following];
    this.close();
    this.retry = setTimeout(() => void this.connect(last, near), AGAIN_MS);
  }

  private isFar(from: Position | null, extent: Extent) {
    const { turn, offset } = from ?? { turn: 1, offset: 0 };
    return turn < extent.turns || extent.size - offset > this.sizes.tail;
  }

  /** Where the last half megabyte begins. */
  private async tail(extent: Extent): Promise<Position> {
    let wanted = this.sizes.tail;
    let { turns: turn, size } = extent;
    while (size <= wanted && turn > 1) {
      wanted -= size;
      turn--;
      size = await this.reader.size(turn);
    }
    return { turn, offset: Math.max(0, size - wanted) };
  }

  /** Lines that stand before one: a part of its turn, or the end of the turn before. */
  private async before(first: Position): Promise<Line[]> {
    let { turn, offset } = first;
    while (offset === 0) {
      if (turn === 1) return [];
      turn--;
      offset = await this.reader.size(turn);
    }
    const end = { turn, offset };
    for (let span = this.sizes.older; ; span *= 4) {
      const start = { turn, offset: Math.max(0, offset - span) };
      const lines = await this.between(start, end);
      // As above, the first line is not whole; one that is all there is must be longer than this.
      const whole = start.offset === 0 ? lines : lines.slice(1);
      if (whole.length > 0 || start.offset === 0) return whole;
      if (span > this.sizes.page) return lines;
    }
  }

  private between(start: Position, end: Position): Promise<Line[]> {
    return new Promise((resolve, reject) => {
      const lines: Line[] = [];
      const done = () => {
        close();
        resolve(lines);
      };
      const close = this.reader.open(start, {
        open: () => {},
        line: (line) => {
          if (line.turn === end.turn && line.offset < end.offset) lines.push(line);
          if (line.turn > end.turn || line.next >= end.offset) done();
        },
        end: done,
        lost: () => {
          close();
          reject(new ApiError(0, "Offline", "The server does not answer."));
        },
      });
    });
  }
}
