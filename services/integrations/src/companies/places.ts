// Where companies live (docs/adr/0029): here, unless `company_places` says otherwise.
import { ApiError } from '@truckroll/contract';
import type { CompanyPlace } from '@truckroll/contract/gen/integrations/v1/cells';
import type { Queryable, Transaction } from '@truckroll/postgres';

/** The name of a cell; null while the company is being switched. */
export type Place = string | null;

export const inWords = (place: Place): string => (place === null ? 'is being switched from one cell to another' : `lives in the cell ${place}`);

/** Where the company lives; undefined for here. */
async function placeOf(db: Queryable, companyId: string): Promise<Place | undefined> {
  const { rows } = await db.query<{ cell: Place }>({
    name: 'company_place',
    text: 'select cell from company_places where company_id = $1',
    values: [companyId],
  });
  return rows[0]?.cell;
}

/** The same, until the transaction ends. A company that is not known here yet has no row to lock. */
export async function lockPlace(tx: Transaction, companyId: string): Promise<Place | undefined> {
  await tx.query({ name: 'lock_company_place', text: `select pg_advisory_xact_lock(hashtextextended('place of ' || $1::text, 0))`, values: [companyId] });
  return await placeOf(tx, companyId);
}

/** `undefined` for here. */
export async function setPlace(tx: Transaction, companyId: string, place: Place | undefined): Promise<void> {
  if (place === undefined) {
    await tx.query({ name: 'company_comes', text: 'delete from company_places where company_id = $1', values: [companyId] });
    return;
  }
  await tx.query({
    name: 'company_goes',
    text: 'insert into company_places (company_id, cell) values ($1, $2) on conflict (company_id) do update set cell = excluded.cell',
    values: [companyId, place],
  });
}

/** Throws 409 if the company lives elsewhere: its rows here are left over, or being copied, and a change of them would be lost. */
export async function refuseElsewhere(db: Queryable, companyId: string): Promise<void> {
  const place = await placeOf(db, companyId);
  if (place === undefined) return;
  const remedy = place === null ? 'Try again in a moment.' : `Call that cell's services.`;
  throw new ApiError('INVALID_REQUEST', `The company ${inWords(place)}. ${remedy}`, { status: 409 });
}

/** Companies whose move from here or to here has not ended. */
export async function selectMoving(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({ name: 'moving_companies', text: 'select distinct company_id as id from moves order by 1' });
  return rows.map(({ id }) => id);
}

export async function selectPlaces(db: Queryable): Promise<{ companies: string[]; elsewhere: CompanyPlace[] }> {
  const { rows } = await db.query<{ id: string; here: boolean; cell: Place }>({
    name: 'company_places',
    text: `select coalesce(c.id, p.company_id) as id, p.company_id is null as here, p.cell
      from companies c full join company_places p on p.company_id = c.id order by 1`,
  });
  return {
    companies: rows.flatMap(({ id, here }) => (here ? [id] : [])),
    elsewhere: rows.flatMap(({ id, here, cell }) => (here ? [] : [{ company_id: id, cell }])),
  };
}
