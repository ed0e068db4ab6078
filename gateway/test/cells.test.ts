// Which cell a caller's requests go to, where several cells share a gateway.
import { EventEmitter } from 'node:events';
import { ApiError, owners } from '@truckroll/contract';
import type { AuthenticateResponse, Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { ReadChangesRequest } from '@truckroll/contract/gen/records/v1/changes';
import { MayBeUnknown, findIn } from '../src/auth/cells.ts';
import { acrossCells } from '../src/routes/cells.ts';
import { compileChanges, type ChangesContext } from '../src/changes/operations.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { UnsentAnswers } from '../src/http/unsent.ts';
import type { CompiledOperation, Held } from '../src/routes/operation.ts';
import { operation as named } from './support/operation.ts';

const KEY = { key_hash: Buffer.from('key') };
const CALLER: AuthenticateResponse = { principal: { company_id: 'acme' } as Principal };
const UNKNOWN: AuthenticateResponse = { principal: null };
const SWITCHING: AuthenticateResponse = { principal: null, elsewhere: { cell: null } };
const AWAY = new Error('away');

type Answer = AuthenticateResponse | Error | Promise<AuthenticateResponse>;

/** Each cell gives its answers in turn, and the last one again and again. */
function finding(answers: Readonly<Record<string, readonly Answer[]>>) {
  const asked: string[] = [];
  const cells = Object.entries(answers).map(([cell, own]) => {
    let at = 0;
    const ask = async (): Promise<AuthenticateResponse> => {
      asked.push(cell);
      const answer = own[Math.min(at++, own.length - 1)]!;
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return [cell, ask] as const;
  });
  return { asked, find: () => findIn(new Map(cells))(KEY) };
}

const never = new Promise<AuthenticateResponse>(() => undefined);
const refusedBy: AuthenticateResponse = { principal: null, refused: true };
const inWest: AuthenticateResponse = { principal: null, elsewhere: { cell: 'west' } };

test.each<[string, Readonly<Record<string, readonly Answer[]>>, string | undefined]>([
  ['the cell that knows it, without waiting for others', { home: [never], west: [CALLER] }, 'west'],
  ['the cell that knows it, though another is away', { home: [AWAY], west: [CALLER] }, 'west'],
  ['no cell if none knows it', { home: [UNKNOWN], west: [UNKNOWN] }, undefined],
  ['no cell if its own refuses it, though another is away', { home: [AWAY], west: [refusedBy] }, undefined],
  ['the cell that another names, which has answered before the company came', { home: [inWest], west: [UNKNOWN, CALLER] }, 'west'],
  ['no cell if the named one does not know it: it was revoked there', { home: [inWest], west: [UNKNOWN] }, undefined],
  ['a cell after the switch', { home: [SWITCHING, inWest], west: [SWITCHING, CALLER] }, 'west'],
  ['a cell after the switch that has just begun there', { home: [inWest], west: [SWITCHING, SWITCHING, CALLER] }, 'west'],
])('a credential belongs to %s', async (_, answers, cell) => {
  expect((await finding(answers).find())?.cell).toBe(cell);
});

test('a credential that no cell knows may be one of a cell that is away', async () => {
  const error = await finding({ home: [AWAY], west: [UNKNOWN] })
    .find()
    .catch((thrown: unknown) => thrown);
  expect([error instanceof MayBeUnknown, (error as Error).cause]).toEqual([true, AWAY]);
});

test('waits for the end of a switch for a second at most, and then says when to come again', async () => {
  await expect(finding({ home: [SWITCHING], west: [SWITCHING] }).find()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
});

test('a company in a cell that the gateway does not have is an outage, not an unknown key', async () => {
  await expect(finding({ home: [{ principal: null, elsewhere: { cell: 'east' } }], west: [UNKNOWN] }).find()).rejects.toThrow('east');
});

const FROZEN = new ApiError('INTERNAL_ERROR', 'frozen', { status: 503, frozen: true });

/** A request of a caller in `home` to an operation that does in each cell what is given. `looks`: where new looks find the company, the last one again and again. */
function request(given: Readonly<Record<string, () => Promise<Held | void>>>, ...looks: string[]) {
  const calls: string[] = [];
  const renew = async ({ principal }: Exchange) => void (principal!.cell = (looks.length > 1 ? looks.shift() : looks[0]) ?? 'west');
  const exchange = { principal: { cell: 'home' } } as unknown as Exchange;
  const handlers = Object.entries(given).map(([cell, work]) => {
    const handle = async (): Promise<Held | void> => {
      calls.push(cell);
      return work();
    };
    return [cell, { limitClass: 'reads', handle } as unknown as CompiledOperation] as const;
  });
  const operation = acrossCells(new Map<string | undefined, CompiledOperation>(handlers), renew);
  return { calls, exchange, handle: () => operation.handle(exchange, [], Buffer.alloc(0)) };
}
const refuse = () => Promise.reject(FROZEN);
const done = () => Promise.resolve();

test('a request goes to the cell of its caller', async () => {
  const { calls, exchange, handle } = request({ home: done, west: done });
  await handle();
  exchange.principal!.cell = 'west';
  await handle();
  expect(calls).toEqual(['home', 'west']);
});

test('a request that a cell refuses goes to the other cell once, if the company lives there', async () => {
  const { calls, handle } = request({ home: refuse, west: done });
  await handle();
  expect(calls).toEqual(['home', 'west']);
  const twice = request({ home: refuse, west: refuse });
  await expect(twice.handle()).rejects.toBe(FROZEN);
  expect(twice.calls).toEqual(['home', 'west']);
});

test('a request that a cell refuses while the company is about to leave it is held until then, and done once', async () => {
  const { calls, handle } = request({ home: refuse, west: done }, 'home', 'home', 'west');
  const held = (await handle()) as Held;
  expect([await held.over, calls]).toEqual([undefined, ['home']]);
  await held.again();
  expect(calls).toEqual(['home', 'west']);
});

test('a request for a company that stays frozen in its own cell is tried once more after a second; another error is thrown at once', async () => {
  const frozen = request({ home: refuse, west: done }, 'home');
  const held = (await frozen.handle()) as Held;
  await held.over;
  await expect(held.again()).rejects.toBe(FROZEN);
  expect(frozen.calls).toEqual(['home', 'home']);
  const failed = request({ home: () => Promise.reject(AWAY), west: done });
  await expect(failed.handle()).rejects.toBe(AWAY);
  expect(failed.calls).toEqual(['home']);
});

test('a poll that was held while its company moved begins again in the other cell', async () => {
  const again: string[] = [];
  const held: Held = { over: Promise.resolve(undefined), again: async () => void again.push('home') };
  const { calls, exchange, handle } = request({ home: () => Promise.resolve(held), west: done });
  const first = (await handle()) as Held;
  await first.again();
  exchange.principal!.cell = 'west';
  await first.again();
  expect([calls, again]).toEqual([['home', 'west'], ['home']]);
});

test('a poll that ends by what its cell last knew reads again if its company has moved', async () => {
  const answered: string[] = [];
  const held: Held = { over: Promise.resolve(async () => void answered.push('home')), again: () => Promise.reject(AWAY) };
  const { calls, exchange, handle } = request({ home: () => Promise.resolve(held), west: done });
  const first = (await handle()) as Held;
  const answer = (await first.over)!;
  expect([await answer(), answered]).toEqual([undefined, ['home']]);
  exchange.principal!.cell = 'west';
  expect([await answer(), answered]).toEqual([false, ['home']]);
  await first.again();
  expect(calls).toEqual(['home', 'west']);
});

test('a poll that begins again waits no longer than its client said', async () => {
  const waits: number[] = [];
  const hold = async (...[, , ms]: unknown[]): Promise<never> => {
    waits.push(ms as number);
    throw AWAY;
  };
  const readChanges = async ({ positions }: ReadChangesRequest) => ({ changes: [], positions, epoch: 0, more: false, as_of: 1, placed: true });
  const channels = Object.fromEntries(owners.map((owner) => [owner, { client: () => ({ readChanges }) }]));
  const context = { services: { channels }, polls: { hold }, unsent: new UnsentAnswers() } as unknown as ChangesContext;
  const { handle } = compileChanges(named('ListChanges'), context)!;
  for (const ago of [0, 30_000]) {
    const startedAt = performance.now() - ago;
    const exchange = { principal: { company_id: 'acme' }, query: 'wait=30', startedAt, res: new EventEmitter() };
    await expect(handle(exchange as unknown as Exchange, [], Buffer.alloc(0))).rejects.toBe(AWAY);
  }
  expect(waits.map((ms) => ms > 0)).toEqual([true, false]);
});

test('an operation of a single cell is not changed', () => {
  const operation = {} as CompiledOperation;
  expect(acrossCells(new Map([[undefined, operation]]), async () => undefined)).toBe(operation);
});
