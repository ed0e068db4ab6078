// Where a company lives is changed in every cell that knows it (docs/adr/0029), in an order in which never two cells serve it and always one
// says that it is being switched: otherwise gateways would take its keys for unknown.
import type { CellAdminServiceService, DescribeCellResponse } from '@truckroll/contract/gen/integrations/v1/cells';
import type { Callers } from '@truckroll/grpc';

/** A cell, by its integrations. */
export interface CellCalls {
  readonly name: string;
  readonly calls: Pick<Callers<typeof CellAdminServiceService>, 'describeCell' | 'switchCompany'>;
}

/** The cell, which may have no row of the company yet, says from now on in which other one it lives. May be repeated. */
export async function sayElsewhere(companyId: string, { name, calls }: CellCalls, lives: string): Promise<void> {
  const place = placeIn(name, companyId, await calls.describeCell({}));
  await calls.switchCompany({ company_id: companyId, from: place === undefined ? name : place, to: lives });
}

/** From now on gateways hold the company's requests, for at most a second. Give the new cell of the company first, then its present one. */
export async function beginSwitch(companyId: string, cells: readonly CellCalls[]): Promise<void> {
  await (await preparedSwitch(companyId, cells, null))();
}

/** After `beginSwitch` with the same cells: `target` serves the company from now on. May be repeated. */
export async function endSwitch(companyId: string, cells: readonly CellCalls[], target: CellCalls): Promise<void> {
  await (await preparedSwitch(companyId, [...cells.filter((cell) => cell !== target), target], target.name))();
}

/**
 * The first half of `beginSwitch`, after which nothing is held yet: the new cell says that the company is being switched, and the present one serves it.
 * What it returns does the second half.
 */
export async function halfBegun(companyId: string, [next, present]: readonly [CellCalls, CellCalls]): Promise<() => Promise<void>> {
  await beginSwitch(companyId, [next]);
  return await preparedSwitch(companyId, [present], null);
}

/** Asks the cells now, so that less is left to do later: what it returns. */
async function preparedSwitch(companyId: string, cells: readonly CellCalls[], to: string | null): Promise<() => Promise<void>> {
  const places = await Promise.all(cells.map(async ({ name, calls }) => placeIn(name, companyId, await calls.describeCell({}))));
  return () => switchFrom(places, companyId, cells, to);
}

/** As `endSwitch`, without asking the cells: all of them say that the company is being switched, so the target may serve it before the others say so. */
export async function endKnownSwitch(companyId: string, cells: readonly CellCalls[], target: CellCalls): Promise<void> {
  const places = cells.map(() => null);
  await switchFrom(places, companyId, [target, ...cells.filter((cell) => cell !== target)], target.name);
}

async function switchFrom(places: readonly (string | null | undefined)[], companyId: string, cells: readonly CellCalls[], to: string | null): Promise<void> {
  for (const [i, { calls }] of cells.entries()) {
    const from = places[i];
    if (from !== undefined) await calls.switchCompany({ company_id: companyId, from, to });
  }
}

/** Where the company lives as far as the cell knows; undefined if it does not know the company. */
function placeIn(cell: string, companyId: string, { companies, elsewhere }: DescribeCellResponse): string | null | undefined {
  if (companies.includes(companyId)) return cell;
  const place = elsewhere.find(({ company_id: id }) => id === companyId);
  return place && (place.cell ?? null);
}
