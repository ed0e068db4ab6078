// What is expected of both cells after a move.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import * as line from '../../services/scheduling/test/records.ts';
import { verifyWebhook } from '../../packages/client/src/index.ts';
import type { Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { operatorsCommand } from '../leaving/fill.ts';
import { dispatchDesk } from '../support/dispatch.ts';
import type { System, TestCompany } from '../support/system.ts';
import { LATER, counts, record, rowsOf, shiftedIn, tracesIn } from './two-cells.ts';

/** Nothing of the company is left in the cell, which does not acknowledge what no client would see there. */
export async function expectNothingIn(left: System, lives: System, company: TestCompany): Promise<void> {
  await expect(record(left, company)).rejects.toMatchObject({ status: 409 });
  await expect(left.importRecords(company, 'accounts', [line.account()])).rejects.toMatchObject({ status: 409 });
  // It was not deleted.
  expect((await operatorsCommand(left, ['company', 'delete', company.id])).stderr).toContain('There is no company');
  const deletion = left.channel('integrations').client(CompanyAdminServiceService).deleteCompany({ id: company.id, name: '' });
  await expect(deletion).rejects.toMatchObject({ status: 404 });
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

const PAGE = '/v1/accounts?limit=3';
const LATEST = 'select latest from scheduling.service_request_numbers where company_id = $1';

/** Returns a function that expects what clients have begun to go on in the other cell: a webhook, a write, a list and numbers. */
export async function continuing(here: System, there: System, receiver: Receiver, company: TestCompany): Promise<() => Promise<void>> {
  const intakeOf = (system: System) => system.channel('scheduling').client(IntakeServiceService);
  const created = await fetch(`${here.baseUrl}/api/v1/integrations/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${here.userToken(company)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'later', url: receiver.url + LATER, eventTypes: ['interaction.completed'] }),
  });
  expect(created.status).toBe(201);
  const { id: endpoint, signingSecret } = ((await created.json()) as { data: { id: string; signingSecret: string } }).data;
  const about = { company_id: company.id, id: randomUUID(), channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND };
  await intakeOf(here).recordInteraction({ ...about, ended_at: now() });
  const wait = `update integrations.webhook_queue set due_at = now() + interval '1 hour' where endpoint_id = $1 and failures = 1 returning delivery_id`;
  await until('the webhook to be refused', async () => (await rowsOf(here, wait, endpoint)).length === 1);
  const desk = await dispatchDesk(here, company);
  const [visit, key] = [await desk.visit(), randomUUID()];
  const first = await desk.add(visit, {}, { key });
  const following = async (cursor: string) => (await here.get(company, `${PAGE}&cursor=${encodeURIComponent(cursor)}`)).body.data;
  const { next_cursor: cursor } = (await here.get(company, PAGE)).body.pagination;
  const page = await following(cursor);
  return async () => {
    await rowsOf(there, 'update integrations.webhook_queue set due_at = now() where endpoint_id = $1', endpoint);
    const sent = () => receiver.received.filter(({ path }) => path.endsWith(LATER));
    const [refused, taken] = await until('the webhook', sent, ({ length }) => length === 2);
    expect(taken!.headers['webhook-id']).toBe(refused!.headers['webhook-id']);
    expect(verifyWebhook(signingSecret, taken!.headers, taken!.body)).toMatchObject({ type: 'interaction.completed', data: { id: about.id } });
    const again = await desk.add(visit, {}, { key });
    expect([again.status, again.body['data'], again.headers.get('idempotent-replayed')]).toEqual([201, first.body['data'], 'true']);
    expect(await following(cursor)).toEqual(page);
    const [numbers] = await rowsOf<{ latest: number }>(there, LATEST, company.id);
    const { service_request } = await intakeOf(there).recordServiceRequest({ company_id: company.id, id: randomUUID(), channel: ServiceRequestChannel.PHONE });
    expect(service_request!.number).toBe(`SR-${numbers!.latest + 1}`);
    const stored = await rowsOf(there, 'select from scheduling.service_requests where company_id = $1', company.id);
    expect(stored).toHaveLength(numbers!.latest + 1);
  };
}
