// Sends requests to the cell of their caller, where several cells share their gateways (docs/adr/0029).
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@truckroll/contract';
import { HOLD_MS } from '../auth/cells.ts';
import type { Exchange } from '../http/exchange.ts';
import type { CompiledOperation, Held } from './operation.ts';

/** Interval in ms between looks, at what the gateway remembers, for the cell of a company that is frozen. */
const LOOK_MS = 50;

/** An operation that is compiled for each cell as one, whose requests go to the caller's. `renew` authenticates again, past caches. */
export function acrossCells(cells: ReadonlyMap<string | undefined, CompiledOperation>, renew: (exchange: Exchange) => Promise<void>): CompiledOperation {
  const own = cells.values().next().value as CompiledOperation;
  if (cells.size === 1) return own;
  async function handle(exchange: Exchange, values: readonly string[], body: Buffer): Promise<Held | void> {
    const cell = cellOf(exchange);
    const operation = cells.get(cell);
    if (operation === undefined) throw ApiError.unavailable(new Error(`the cell ${cell} is not in CELLS`));
    // A poll that was held while its company moved begins again in the other cell, and does not say what the first cell last knew.
    const isHere = (): boolean => cellOf(exchange) === cell;
    const resumable = (held: Held | void): Held | void =>
      held && {
        over: held.over.then((answer) => answer && (async () => (isHere() ? answer() : false))),
        again: async () => (isHere() ? resumable(await held.again()) : handle(exchange, values, body)),
      };
    return resumable(await operation.handle(exchange, values, body));
  }
  /** Resolves when the company has left the cell, or after HOLD_MS. */
  async function leaves(exchange: Exchange, cell: string | undefined): Promise<void> {
    for (const until = performance.now() + HOLD_MS; cellOf(exchange) === cell && performance.now() < until; await renew(exchange)) await delay(LOOK_MS);
  }
  return {
    ...own,
    async handle(exchange, values, body) {
      const cell = cellOf(exchange);
      try {
        return await handle(exchange, values, body);
      } catch (error) {
        if (!(error instanceof ApiError) || !error.frozen) throw error;
        // Nothing was stored. The company may have left the cell, or be about to: then the request waits, without a slot of the limiter.
        await renew(exchange);
        const again = (): Promise<Held | void> => handle(exchange, values, body);
        if (cellOf(exchange) !== cell) return await again();
        return { over: leaves(exchange, cell).then(() => undefined), again };
      }
    },
  };
}

const cellOf = ({ principal }: Exchange): string | undefined => principal?.cell ?? undefined;
