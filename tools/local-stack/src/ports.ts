import { createServer } from 'node:net';
import { readJson, writeJson } from './files.ts';

/** The kernel assigns ports from 32768 up to clients, so a server on such a port could lose it during a restart. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** True when nothing listens on the port on any address of this machine. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    // Without a host this binds every address, so a listener on any one of them makes it fail.
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A free port below the kernel's range that is not in `taken`. */
export async function choosePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  const span = HIGHEST - LOWEST;
  const start = Math.floor(Math.random() * span);
  for (let step = 0; step < span; step += 1) {
    const port = LOWEST + ((start + step) % span);
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
}

/** The ports of one state folder by name, chosen at the first start and stored in a file, so that addresses stay the same. */
export class Ports {
  readonly #file: string;
  readonly #chosen: Record<string, number>;
  #taking: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
    this.#chosen = readJson<Record<string, number>>(file) ?? {};
  }

  /** Returns the first free one of: the port stored under this name, `preferred`, any other. */
  take(name: string, preferred?: number): Promise<number> {
    // One at a time, so that two concurrent calls do not get the same port.
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
