import { createServer } from 'node:net';
import { readJson, writeJson } from './files.ts';

/** The kernel hands out ports from 32768 on to clients, so a server that is down for a moment may lose one of those. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** True when nothing listens on the port, on any address of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    // Without a host this asks for every address: a listener on any one of them stands in the way.
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A free port below the kernel's own range that is not in `taken`. */
export async function choosePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  const span = HIGHEST - LOWEST;
  const start = Math.floor(Math.random() * span);
  for (let step = 0; step < span; step += 1) {
    const port = LOWEST + ((start + step) % span);
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

/** The ports of one state folder by name, chosen at the first start and kept in a file, so that addresses stay. */
export class Ports {
  readonly #file: string;
  readonly #chosen: Record<string, number>;
  #taking: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
    this.#chosen = readJson<Record<string, number>>(file) ?? {};
  }

  /** The port kept under this name, or `preferred`, or any other, whichever is the first that is free. */
  take(name: string, preferred?: number): Promise<number> {
    // One after the other, so that two who ask at once do not get the same.
    const taking = this.#taking.then(() => this.#take(name, preferred));
    this.#taking = taking.catch(() => undefined);
    return taking;
  }

  async #take(name: string, preferred: number | undefined): Promise<number> {
    const taken = new Set(
      Object.entries(this.#chosen)
        .filter(([other]) => other !== name)
        .map(([, port]) => port),
    );
    for (const port of [this.#chosen[name], preferred]) {
      if (port !== undefined && !taken.has(port) && (await isFree(port))) return this.#keep(name, port);
    }
    return this.#keep(name, await choosePort(taken));
  }

  /** What was taken under the name before, free or not. */
  remembered(name: string): number | undefined {
    return this.#chosen[name];
  }

  #keep(name: string, port: number): number {
    if (this.#chosen[name] !== port) {
      this.#chosen[name] = port;
      writeJson(this.#file, this.#chosen);
    }
    return port;
  }
}
