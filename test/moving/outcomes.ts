// What is expected of both cells after a move.
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import type { System, TestCompany } from '../support/system.ts';
import { counts, record, rowsOf, shiftedIn, tracesIn } from './two-cells.ts';

/** Nothing of the company is left in the cell, which does not acknowledge what no client would see there. */
export async function expectNothingIn(left: System, lives: System, company: TestCompany): Promise<void> {
  await expect(record(left, company)).rejects.toMatchObject({ status: 409 });
  await expect(left.importRecords(company, 'accounts', [line.account()])).rejects.toMatchObject({ status: 409 });
  expect([await tracesIn(left, lives), await shiftedIn(left, company), await counts(left, company)]).toEqual([[], [], {}]);
}

const PASSES = [
  `select 'scheduling' as owner, processed from scheduling.catch_up where task = 'publish'`,
  `select 'billing' as owner, processed from billing.catch_up where task = 'publish'`,
].join(' union ');

/** Returns a function that expects the company's records to be published in the cell, without a pass over those of all companies. */
export async function publishing(system: System): Promise<() => Promise<void>> {
  // A pass counts from 0.
  for (const owner of ['scheduling', 'billing']) await rowsOf(system, `update ${owner}.catch_up set processed = 777 where task = 'publish'`);
  const before = await rowsOf(system, PASSES);
  return async () => {
    const noted = `select from pg_stat_user_tables where relname = 'unpublished' and n_tup_ins > 0`;
    await until(
      'its records to be noted',
      () => rowsOf(system, noted),
      (services) => services.length === 2,
    );
    const left = 'select from scheduling.unpublished union all select from billing.unpublished';
    await until('its records to be published', async () => (await rowsOf(system, left)).length === 0);
    expect(await rowsOf(system, PASSES)).toEqual(before);
  };
}

/** Runs the command while another company of the other cell has a user with the same subject. */
export async function withSameSubject<T>(here: System, there: System, { id }: TestCompany, command: () => Promise<T>): Promise<T> {
  const twin = await there.createCompany();
  const [user] = await rowsOf<{ subject: string }>(here, 'select subject from integrations.users where company_id = $1', id);
  await rowsOf(there, 'update integrations.users set subject = $2 where company_id = $1', twin.id, user!.subject);
  const outcome = await command();
  for (const table of ['api_keys', 'users']) await rowsOf(there, `delete from integrations.${table} where company_id = $1`, twin.id);
  await rowsOf(there, 'delete from integrations.companies where id = $1', twin.id);
  return outcome;
}
