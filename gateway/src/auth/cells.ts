// Finds the cell of a caller, where several cells share their gateways (docs/adr/0029).
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@truckroll/contract';
import type { AuthenticateRequest, AuthenticateResponse, Principal } from '@truckroll/contract/gen/integrations/v1/identity';

/** Longest time in ms for which requests wait while their company is being switched (decisions §21), and interval between looks. */
export const HOLD_MS = 1000;
const LOOK_MS = 25;

/** Asks integrations of one cell. Rejects if it cannot answer. */
type Ask = (request: AuthenticateRequest) => Promise<AuthenticateResponse>;

/** 503: nothing was done. */
export class CompanySwitching extends ApiError {
  constructor() {
    const message = 'The company is being moved to another database. Nothing was stored. Try again after the time in Retry-After.';
    super('INTERNAL_ERROR', message, { status: 503, retryAfterSeconds: 1 });
  }
}

/** A cell does not answer, and none of the others has the credential: it may be one of that cell, or made up. */
export class MayBeUnknown extends Error {}

const SWITCHING = Symbol('switching');

/**
 * Finds the caller in any of the cells, and waits while the company is being switched. Rejects with MayBeUnknown if no cell has the caller and one
 * cannot answer.
 * A single cell has no name.
 */
export function findIn(cells: ReadonlyMap<string | undefined, Ask>): (request: AuthenticateRequest) => Promise<Principal | undefined> {
  const only = cells.get(undefined);
  if (only !== undefined) return async (request) => (await only(request)).principal ?? undefined;
  const answerOf = async (cell: string | undefined, request: AuthenticateRequest): Promise<AuthenticateResponse> => {
    const ask = cells.get(cell);
    if (ask === undefined) throw new Error(`a company lives in the cell ${cell}, which is not in CELLS`);
    const answer = await ask(request);
    return answer.principal == null ? answer : { ...answer, principal: { ...answer.principal, cell } };
  };

  async function look(request: AuthenticateRequest): Promise<Principal | undefined | typeof SWITCHING> {
    const asked = [...cells.keys()].map((cell) => answerOf(cell, request));
    const known = asked.map(async (asking) => {
      const { principal, refused } = await asking;
      return principal != null || refused === true ? { principal: principal ?? undefined } : Promise.reject(new Error('not known there'));
    });
    const first = await Promise.any(known).catch(() => undefined);
    if (first !== undefined) return first.principal;
    const answers = await Promise.allSettled(asked);
    const places = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value.elsewhere != null ? [answer.value.elsewhere] : []));
    for (const { cell } of places) {
      if (cell == null) continue;
      // Asked again, because it may have answered before the company came.
      const { principal, elsewhere } = await answerOf(cell, request);
      return elsewhere == null ? (principal ?? undefined) : SWITCHING;
    }
    if (places.length > 0) return SWITCHING;
    for (const answer of answers) if (answer.status === 'rejected') throw new MayBeUnknown('a cell does not answer', { cause: answer.reason });
    return undefined;
  }

  return async (request) => {
    for (const until = performance.now() + HOLD_MS; ; await delay(LOOK_MS)) {
      const found = await look(request);
      if (found !== SWITCHING) return found;
      if (performance.now() + LOOK_MS > until) throw new CompanySwitching();
    }
  };
}
