// A company is deleted and people are erased while Redis is away; dead letters, and rows that were stored since, go when the operator asks again.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { LoggedRequests, RequestLogServiceService } from '@truckroll/contract/gen/integrations/v1/requests';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import type { Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { operatorsCommand } from './fill.ts';
import { rowsWith } from './search.ts';

const MINUTES = 60_000;

let system: System;
let leaving: TestCompany;
let staying: TestCompany;
let person: Json;

const command = (...args: string[]) => operatorsCommand(system, args);
const sql = (text: string, ...values: unknown[]) => system.database.query({ text, values });
const erase = () => command('person', 'erase', 'accounts', person['id'], '--company', staying.id, '--yes-erase', person['name']);

/** A dead letter in reporting, of a message about the person. */
const setAside = (companyId: string, offset: number, key: string, version: number, payload = '') =>
  sql(
    `insert into reporting.parked_event (consumer, topic, partition, log_offset, key, headers, payload, reason)
      values ('reporting', $1, 0, $2, $3, jsonb_build_object('companyId', $4::text, 'version', $5::text), $6, 'unknown')`,
    ...[topics.names.name, offset, key, companyId, String(version), Buffer.from(payload)],
  );

beforeAll(async () => {
  system = await startSystem({ wired: true });
  [leaving, staying] = [await system.createCompany(), await system.createCompany()];
  person = { ...line.account(), name: 'Marlowe Thistlewood' };
  for (const company of [leaving, staying]) expect((await system.importRecords(company, 'accounts', [person])).problems).toEqual([]);
}, 2 * MINUTES);
afterAll(() => system?.stop(), MINUTES);

test(
  'a person is erased while Redis is away, and the deletion of a company waits for its return',
  async () => {
    await system.wires.redis!.cut();
    const erased = erase();
    await system.channel('integrations').client(CompanyAdminServiceService).deleteCompany({ id: leaving.id, name: 'Test Heating & Air' });
    const erasures = system.channel('integrations').client(ErasureServiceService);
    await until(
      'the wait for Redis',
      async () => (await erasures.getErasure({ company_id: leaving.id, count: false })).erasure?.waits_for,
      (waitsFor) => waitsFor === 'messages to Redis',
    );
    expect(await erased).toMatchObject({ code: 0 });
    const shown = `select name from reporting.names where company_id = $1 and id = $2`;
    expect((await sql(shown, staying.id, person['id'])).rows).toEqual([{ name: 'Erased person' }]);
    await system.wires.redis!.restore();
    expect(await command('company', 'delete', leaving.id)).toMatchObject({ code: 0 });
    expect(await rowsWith(system.database, [leaving.id])).toEqual({ 'integrations.audit_events': 1 });
  },
  2 * MINUTES,
);

test(
  'what was stored since goes when the commands run again: rows of the company, and dead letters that a later message has replaced; gateways store no requests',
  async () => {
    const chunk = { company_id: leaving.id, key_id: randomUUID(), failed: false, first_at: 1, last_at: 2, count: 1 };
    const requests = Buffer.from(LoggedRequests.encode({ requests: [] }).finish());
    await system
      .channel('integrations')
      .client(RequestLogServiceService)
      .storeRequests({ chunks: [{ ...chunk, requests }] });
    expect(await rowsWith(system.database, [leaving.id])).toEqual({ 'integrations.audit_events': 1 });
    await sql(`insert into reporting.names (company_id, kind, id, name, version) values ($1, 'accounts', $1, 'x', 1)`, leaving.id);
    await setAside(leaving.id, 1, `${leaving.id}/accounts/x`, 1);
    const key = `${staying.id}/accounts/${person['id'] as string}`;
    const newest = (await sql(`select version from reporting.inbox_version where key = $1`, key)).rows as { version: number }[];
    const { version } = newest[0]!;
    await setAside(staying.id, 2, key, version - 1, `${person['id'] as string} ${person['name'] as string}`);
    await setAside(staying.id, 3, key, version + 1, person['id'] as string);
    await setAside(staying.id, 4, key, version - 1, 'another');

    const [again, erased] = await Promise.all([command('company', 'delete', leaving.id), erase()]);
    expect(JSON.parse(again.stdout)).toMatchObject({ removed: expect.arrayContaining([{ service: 'reporting', table: 'parked_event', rows: 1 }]) });
    expect(await rowsWith(system.database, [leaving.id])).toEqual({ 'integrations.audit_events': 1 });
    expect(erased).toMatchObject({ code: 0 });
    expect((await sql('select log_offset from reporting.parked_event order by 1')).rows).toEqual([{ log_offset: 3 }, { log_offset: 4 }]);
  },
  2 * MINUTES,
);
