// Where the company lives during a move (docs/adr/0029). Cells without names share no gateways.
import { endKnownSwitch, endSwitch, halfBegun, sayElsewhere, type CellCalls } from '../cells/switch.ts';
import type { Cell, Moving } from './cells.ts';

type Switched = Pick<Moving, 'from' | 'to' | 'id'>;

/** Undefined unless both cells have names. */
async function namedOf({ from, to }: Switched): Promise<{ from: CellCalls; to: CellCalls } | undefined> {
  const [left, right] = await Promise.all([from.calls(), to.calls()]);
  return left && right && { from: left, to: right };
}

/** Why the cells' names do not let the company move. */
export async function problemsOfNames({ from, to }: Pick<Moving, 'from' | 'to'>): Promise<string[]> {
  const [here, there] = [(await from.calls())?.name, (await to.calls())?.name];
  if ((here === undefined) !== (there === undefined))
    return [`One cell is called ${here ?? there}, and ${here === undefined ? 'this one' : 'the other one'} has no name: set CELL in both, or in none.`];
  return here === undefined || here !== there ? [] : [`Both cells are called ${here}: give each a CELL of its own.`];
}

/** Before the first row is there: the other cell answers gateways that the company lives here. */
export async function announce(moving: Switched): Promise<void> {
  const named = await namedOf(moving);
  if (named) await sayElsewhere(moving.id, named.to, named.from.name);
}

/** What it returns has gateways hold the company's requests, for at most a second, until one of the next two functions ends that. */
export async function holding(moving: Switched): Promise<() => Promise<void>> {
  const named = await namedOf(moving);
  return named ? await halfBegun(moving.id, [named.to, named.from]) : async () => undefined;
}

/** `held`: whether what `holding` returns was called just now. */
export async function livesThere(moving: Switched, held: boolean): Promise<void> {
  const named = await namedOf(moving);
  const end = held ? endKnownSwitch : endSwitch;
  if (named) await end(moving.id, [named.from, named.to], named.to);
}

/** Changes nothing if its requests are not held. */
export async function staysHere(moving: Switched): Promise<void> {
  const named = await namedOf(moving);
  if (named) await endSwitch(moving.id, [named.from, named.to], named.from);
}

/** The same without the other cell, which serves the company no more than before. */
export async function staysHereAlone(from: Cell, id: string): Promise<void> {
  const own = await from.calls();
  if (own) await endSwitch(id, [own], own);
}

/** After the company's rows in the cell are deleted: before, it would serve what is left of them. */
export async function forgetPlace({ db }: Cell, companyId: string): Promise<void> {
  await db.query({ text: 'delete from integrations.company_places where company_id = $1', values: [companyId] });
}
