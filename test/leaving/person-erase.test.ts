// People ask to be erased: no row, topic of state or Redis key shows them any more, their records stay, and nothing brings the names back.
import { randomUUID } from 'node:crypto';
import { codec, owners, resource } from '@truckroll/contract';
import { UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { Interaction } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { Database } from '@truckroll/postgres';
import { until } from '@truckroll/testing/until';
import { append, auditEvent } from '../../packages/outbox/src/index.ts';
import { refusal } from '../support/dispatch.ts';
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { operatorsCommand } from './fill.ts';
import { NAMES, TEXTS, startPeople, type Kind, type People } from './people.ts';
import { messagesWith, redisKeysWith, rowsWith } from './search.ts';

const MINUTES = 60_000;
const ERASED = 'Erased person';
const KINDS = Object.keys(NAMES) as Kind[];
const RECORDS = ['contacts', 'accounts', 'team-members'] as const;
const ALL = Object.values(TEXTS).flat();

let people: People;
let ids: Record<Kind, string>;
beforeAll(async () => {
  people = await startPeople();
  const { account, contact, technician, user } = people;
  ids = { accounts: account['id'], contacts: contact['id'], 'team-members': technician['id'], users: user.id };
}, 3 * MINUTES);
afterAll(() => people?.stop(), MINUTES);

const erase = (kind: string, id: string, ...more: string[]) =>
  operatorsCommand(people.system, ['person', 'erase', kind, id, '--company', people.desk.company.id, ...more]);
const sql = async (text: string, ...values: unknown[]): Promise<Json[]> => (await people.system.database.query<Json>({ text, values })).rows;

test('refuses an unknown person, a wrong name, other kinds, and users who are active or of another company; a dry run only says who it is', async () => {
  const before = await rowsWith(people.system.database, ALL);
  for (const name of ['scheduling.accounts', 'scheduling.jobs', 'scheduling.team_members', 'scheduling.job_appointments', 'scheduling.interactions'])
    expect(before[name]).toBeGreaterThan(0);
  for (const name of ['billing.invoices', 'billing.payments', 'reporting.jobs', 'reporting.names', 'integrations.webhook_events', 'integrations.mails'])
    expect(before[name]).toBeGreaterThan(0);
  const refused = (said: string) => ({ code: 1, stderr: expect.stringContaining(said) });
  expect(await erase('accounts', randomUUID(), '--yes-erase', NAMES.accounts)).toMatchObject(refused('has no record'));
  expect(await erase('accounts', ids.accounts, '--yes-erase', 'Quillfeather')).toMatchObject(refused(NAMES.accounts));
  expect(await erase('jobs', ids.accounts, '--yes-erase', NAMES.accounts)).toMatchObject({ code: 2 });
  expect(await erase('users', ids.users, '--yes-erase', NAMES.users)).toMatchObject(refused('truckroll user deactivate'));
  expect(await erase('users', people.other.userId, '--yes-erase', NAMES.users)).toMatchObject(refused('has no record'));
  const dry = await erase('accounts', ids.accounts);
  expect(JSON.parse(dry.stdout)).toMatchObject({ name: NAMES.accounts, erased: false });
  expect(await rowsWith(people.system.database, ALL)).toEqual(before);
});

describe('once they are erased', () => {
  /** What the commands said. */
  let said: Record<Kind, Json>;
  let cursor: string;
  const entries = () =>
    sql(
      `select company_id, id, at, actor_kind, actor_id, action, object_id from integrations.audit_events
        where action not like 'erasure.%' and action <> 'person.erased' and company_id = any($1) order by at, id`,
      [people.desk.company.id, people.other.id],
    );
  let before: Json[];

  beforeAll(async () => {
    const { system, desk } = people;
    await system.channel('integrations').client(UserAdminServiceService).deactivateUser({ id: ids.users });
    before = await entries();
    cursor = (await system.get(desk.company, '/api/v1/integrations/changes?cursor=now')).body.nextCursor;
    const outcomes = await Promise.all(KINDS.map((kind) => erase(kind, ids[kind], '--yes-erase', NAMES[kind])));
    expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toMatchObject(KINDS.map(() => ({ code: 0 })));
    said = Object.fromEntries(KINDS.map((kind, i) => [kind, JSON.parse(outcomes[i]!.stdout)])) as Record<Kind, Json>;
  }, 2 * MINUTES);

  test(
    'no row, topic of state or Redis key shows them, and the topic of erasures has their ids',
    async () => {
      const { system, desk } = people;
      expect(await rowsWith(system.database, ALL)).toEqual({});
      const kafka = { brokers: system.serviceEnvironment['KAFKA_BROKERS']!, prefix: system.serviceEnvironment['KAFKA_PREFIX']! };
      await until(
        'topics of state without the names',
        async () => (await messagesWith(kafka, ALL)).state,
        (found) => found.length === 0,
      );
      const { kept } = await messagesWith(kafka, Object.values(ids));
      expect(new Set(kept.map((event) => event.key))).toEqual(new Set(KINDS.map((kind) => `${desk.company.id}/${kind}/${ids[kind]}`)));
      expect(await redisKeysWith(system.gatewayEnvironment['REDIS_URL']!, ALL)).toEqual([]);
    },
    MINUTES,
  );

  test.each(RECORDS)('the record of one of the %s stays, the feed has it, and a second run says what the first one did', async (kind) => {
    const { system, desk } = people;
    const id = ids[kind];
    expect((await system.get(desk.company, `/v1/${kind}/${id}`)).body['data']).toMatchObject({ id, name: ERASED });
    expect((await system.get(desk.company, `/v1/${kind}?search=erased`)).body['data']).toEqual([expect.objectContaining({ id })]);
    const changes = await system.get(desk.company, `/api/v1/integrations/changes?cursor=${cursor}&limit=1000`);
    expect(changes.body['data']).toContainEqual(expect.objectContaining({ kind, id, record: expect.objectContaining({ name: ERASED }) }));
    const trail = `select object_kind, object_id, before, after from integrations.audit_events where company_id = $1 and action = 'person.erased' and object_id = $2`;
    expect(await sql(trail, desk.company.id, id)).toEqual([{ object_kind: kind, object_id: id, before: null, after: null }]);
    const { mentions: _mentions, more_mentions: _more, ...first } = said[kind];
    // With the option it looks again, for what a replica of an earlier release may have stored since.
    expect(JSON.parse((await erase(kind, id)).stdout)).toEqual(first);
  });

  test('lists texts of other records that have the number of the technician, and none of the others', () => {
    const mentions = [{ service: 'scheduling', kind: 'jobs', id: people.desk.job['id'], field: 'summary' }];
    expect(said['team-members']).toMatchObject({ mentions, more_mentions: 0 });
    for (const kind of ['accounts', 'contacts', 'users'] as const) expect(said[kind]).toMatchObject({ mentions: [], more_mentions: 0 });
  });

  test('a technician is inactive, and messages that named the technician do not, though the technician left the visit before', async () => {
    const { system, desk, named } = people;
    const shown = (await system.get(desk.company, `/v1/team-members/${ids['team-members']}`)).body['data'];
    expect(shown).toMatchObject({ email: null, phone: null, title: null, status: 'INACTIVE', assignable: false });
    for (const id of named) {
      const [message] = await sql(
        'select n.message, i.document from scheduling.notifications n join scheduling.interactions i using (company_id, id) where id = $1',
        id,
      );
      expect(message!['message']).toMatch(/Who comes: Erased person\.$/);
      expect(Interaction.decode(message!['document']).summary).toBe(message!['message']);
    }
    const bodies = await sql(
      `select convert_from(body, 'UTF8')::json -> 'data' as data from integrations.webhook_events where company_id = $1 and people is not null`,
      desk.company.id,
    );
    expect(bodies.map(({ data }) => [data.id, data.summary]).toSorted()).toEqual(named.map((id) => [id, ERASED]).toSorted());
  });

  test('a user is not named in the trail of any company, which keeps what the user did, and e-mails are not sent', async () => {
    const had = new Set(before.map(({ id }) => id));
    // Entries of earlier calls may still have been on their way.
    expect((await entries()).filter(({ id }) => had.has(id))).toEqual(before);
    expect(await sql('select distinct actor_name from integrations.audit_events where actor_id = $1', ids.users)).toEqual([{ actor_name: ERASED }]);
    const mails = await sql('select subject, body, status from integrations.mails where user_id = $1', ids.users);
    expect(mails).toEqual([{ subject: ERASED, body: ERASED, status: 'SUPPRESSED' }]);
  });

  test('refuses to repeat writes whose answers showed one of them', async () => {
    const replay = await people.addToVisit();
    expect(refusal(replay).slice(0, 2)).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    expect(replay.body['error'].message).toContain('erased');
    await expect(people.recordRequest()).rejects.toMatchObject({ status: 409 });
    await expect(people.recordCall()).rejects.toMatchObject({ status: 409 });
  });

  test('does not import them again, nor their names in other records, and says so for each line', async () => {
    const { system, desk, account, contact, technician } = people;
    for (const [path, record] of [
      ['accounts', account],
      ['contacts', contact],
      ['team-members', technician],
    ] as const) {
      const report = await system.importRecords(desk.company, path, [record]);
      expect(report).toMatchObject({ created: 0, changed: 0, problems: [{ line: 1, field: 'id', message: expect.stringContaining('was erased') }] });
    }
    const customer = { account: { id: ids.accounts, name: NAMES.accounts }, contact: { id: ids.contacts, name: NAMES.contacts } };
    await desk.store('jobs', { ...desk.job, summary: 'Another summary', ...customer });
    await untilFollowed(system, desk.company);
    expect(await rowsWith(system.database, ALL)).toEqual({});
  });

  test('stores no webhook that arrives late with their names, in references or in a text', async () => {
    const { system, desk, receiver } = people;
    const references = { account: { id: ids.accounts, name: NAMES.accounts }, contact: { id: ids.contacts, name: NAMES.contacts } };
    const late = (data: Json, more: Json) => {
      const event = {
        id: randomUUID(),
        type: 'interaction.completed',
        company_id: desk.company.id,
        subject: randomUUID(),
        sequence: 1,
        timestamp: Date.now() * 1000,
      };
      return { ...event, body: Buffer.from(JSON.stringify({ ...event, data: { id: event.subject, direction: 'OUTBOUND', ...data } })), ...more };
    };
    const events = [
      late({ ...references, summary: `Dear ${NAMES.contacts}` }, { customer_name: NAMES.accounts }),
      late({ summary: `Who comes: ${NAMES['team-members']}.` }, { people: `${randomUUID()} ${ids['team-members']}` }),
    ];
    const received = receiver.received.length;
    await system.channel('integrations').client(DeliveryServiceService).fanOut({ events, dead_letter_ids: [], lease: null });
    await receiver.until(received + events.length);
    for (const { body } of receiver.received.slice(received)) expect(JSON.parse(body).data).toMatchObject({ summary: ERASED });
    expect(await rowsWith(system.database, ALL)).toEqual({});
  });

  test(
    'erases again what an earlier release has stored since, and goes on without the command',
    async () => {
      const { system, desk, customer } = people;
      const [{ document }] = (await sql('select document from scheduling.contacts where id = $1', ids.contacts)) as [Json];
      const { decode, encode } = codec(resource('contacts').record.typeName);
      const stored = encode({ ...(decode(document) as Json), name: NAMES.contacts });
      await sql('update scheduling.contacts set document = $2 where id = $1', ids.contacts, Buffer.from(stored.finish()));
      // The replica that recorded the first request has a clock that is ahead.
      for (const service of owners) await sql(`update ${service}.erased_people set asked_at = '2100-01-01' where id = $1`, ids.contacts);

      const person = { company_id: desk.company.id, kind: 'accounts', id: customer['id'] as string };
      const ctrlC = new AbortController();
      const args = ['person', 'erase', 'accounts', person.id, '--company', person.company_id, '--yes-erase', customer['name']];
      const [again, user, interrupted] = await Promise.all([
        erase('contacts', ids.contacts, '--yes-erase', 'any'),
        erase('users', ids.users, '--yes-erase', NAMES.users),
        operatorsCommand(system, args, undefined, ctrlC.signal),
        until(
          'its beginning',
          () => sql('select from scheduling.erased_people where id = $1', person.id),
          (rows) => rows.length === 1,
        ).then(() => ctrlC.abort()),
      ]);
      expect(again).toMatchObject({ code: 0 });
      // The name alone is in the texts of no record.
      expect({ code: user.code, ...(JSON.parse(user.stdout) as Json) }).toMatchObject({ code: 0, mentions: [], more_mentions: 0 });
      expect(interrupted).toMatchObject({ code: 130, stdout: '', stderr: expect.stringContaining('Run the same command again to wait for the end.') });
      for (const service of owners) {
        await until(
          `${service} to end`,
          async () => (await system.channel(service).client(ErasureServiceService).getPerson(person)).erasure?.ended_at,
          (endedAt) => endedAt != null,
        );
      }
      expect(await rowsWith(system.database, ALL)).toEqual({});
      const text = `select distinct object_id from integrations.audit_events where company_id = $1 and action = 'erasure.get_person' and after = $2 order by 1`;
      await until(
        'entries of all services, which say who asked for the name',
        async () => (await sql(text, person.company_id, JSON.stringify({ id: person.id }))).map(({ object_id: service }) => service).join(),
        (services) => services === owners.toSorted().join(),
      );
    },
    2 * MINUTES,
  );

  test('stores no entry of the trail that arrives late with their names, unless another company has a record with the id', async () => {
    const { system, desk, other } = people;
    const shown = { id: randomUUID(), team_member: { id: ids['team-members'], name: NAMES['team-members'] } };
    const entry = { companyId: desk.company.id, action: 'assignment.added', object: { kind: 'job-assignments', id: shown.id }, after: JSON.stringify(shown) };
    const scheduling = new Database({ url: system.serviceEnvironment['DATABASE_URL']!, schema: 'scheduling', maxConnections: 1 });
    await scheduling.transaction((tx) => append(tx, [auditEvent('scheduling', entry), auditEvent('scheduling', { ...entry, companyId: other.id })]));
    await scheduling.close();
    const rows = await until(
      'the entries',
      () => sql('select company_id, after from integrations.audit_events where object_id = $1', shown.id),
      (found) => found.length === 2,
    );
    const after = new Map(rows.map((row) => [row['company_id'], JSON.parse(row['after'])]));
    expect(after.get(desk.company.id)).toEqual({ ...shown, team_member: { ...shown.team_member, name: ERASED } });
    expect(after.get(other.id)).toEqual(shown);
  });

  test('the trail refuses every other change, also while a person is being erased', async () => {
    const integrations = new Database({ url: people.system.serviceEnvironment['DATABASE_URL']!, schema: 'integrations', maxConnections: 1 });
    const changes = (change: string, where: string, erasing = true): Promise<void> =>
      integrations.transaction(async (tx) => {
        if (erasing) await tx.query({ text: 'update erased_people set ended_at = null where id = $1', values: [ids.users] });
        const { rowCount } = await tx.query({ text: `update audit_events set ${change} where ${where}`, values: [ids.users] });
        throw new Error(`changed ${rowCount > 0 ? 'some' : 'none'}`);
      });
    const ofUser = 'actor_id = $1::text';
    await expect(changes('after = null', ofUser)).rejects.toThrow('changed some');
    await expect(changes('after = null', ofUser, false)).rejects.toThrow('42501');
    await expect(changes(`action = 'x'`, ofUser)).rejects.toThrow('42501');
    await expect(changes(`address = '203.0.113.9'`, ofUser)).rejects.toThrow('42501');
    await expect(changes('after = null', `position($1::text in concat_ws(' ', actor_id, before, after)) = 0`)).rejects.toThrow('42501');
    await integrations.close();
  });
});
