/** ELK computes in a worker of our own server, so that no graph can freeze the page, and one that
 * takes too long is ended with its worker. */
import ELK, { type ELK as Engine } from "elkjs/lib/elk-api";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import { type Drawing, fromElk, toElk } from "./layout";
import type { Shape } from "./shape";

/** Lays out one graph after the other; a newer wish ends the one before. */
export class Layouter {
  #engine: Engine | null = null;
  #busy = false;

  async draw(shape: Shape): Promise<Drawing> {
    if (this.#busy) this.end();
    this.#engine ??= new ELK({ workerFactory: () => new Worker(workerUrl) });
    const engine = this.#engine;
    this.#busy = true;
    const laid = await engine.layout(toElk(shape));
    if (engine === this.#engine) this.#busy = false;
    return fromElk(shape, laid);
  }

  end() {
    this.#engine?.terminateWorker();
    this.#engine = null;
    this.#busy = false;
  }
}
