// A backup from before a company was deleted and a person erased is restored: both happen again by themselves.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { truckroll } from '../../tools/cli/test/system.ts';
import { startBackedUpServer, type BackedUpServer } from '../restore/server.ts';
import { demoLines } from '../support/demo.ts';
import { newStorage, startSystem, type Storage, type System, type TestCompany } from '../support/system.ts';
import { messagesWith, rowsWith } from './search.ts';

const MINUTES = 60_000;
const MOMENT = 'before the company left';
const NAME = 'Test Heating & Air';
const PLANTED = 'Quillfeather';
const PERSON = 'Marlowe Thistlewood';

let server: BackedUpServer;
let storage: Storage;
let system: System;
let leaving: TestCompany;
let staying: TestCompany;
let person: string;

const command = (...args: string[]) =>
  truckroll(
    ['--json', ...args],
    {
      DATABASE_URL: server.url,
      KAFKA_BROKERS: system.serviceEnvironment['KAFKA_BROKERS']!,
      KAFKA_PREFIX: storage.kafkaPrefix,
      CALL_CREDENTIAL: testCaller('operator').text,
      ...Object.fromEntries(Object.entries(system.gatewayEnvironment).filter(([name]) => name.endsWith('_ADDRESS'))),
    },
    tmpdir(),
  );

beforeAll(async () => {
  server = await startBackedUpServer();
  storage = newStorage(server.url);
  system = await startSystem({ storage });
  [leaving, staying] = [await system.createCompany(), await system.createCompany()];
  for (const [path, lines] of demoLines({ seed: 3, size: 5, timezone: leaving.timezone, until: '2026-11-20T18:00:00Z' })) {
    const own: Record<string, any>[] = path === 'accounts' ? lines.map((line) => ({ ...line, name: PLANTED })) : lines;
    expect((await system.importRecords(leaving, path, own)).problems).toEqual([]);
    if (path !== 'accounts') continue;
    const [account] = own;
    person = account!['id'] as string;
    expect((await system.importRecords(staying, path, [{ ...account, name: PERSON }])).problems).toEqual([]);
  }
}, 2 * MINUTES);
afterAll(async () => {
  await system?.stop();
  await server?.close();
}, MINUTES);

test(
  'deletes the company of a restored backup again and erases the person, and the audit entry is the same',
  async () => {
    await server.name(MOMENT);
    const gone = await Promise.all([
      command('company', 'delete', leaving.id, '--yes-delete', NAME),
      command('person', 'erase', 'accounts', person, '--company', staying.id, '--yes-erase', PERSON),
    ]);
    expect(gone).toMatchObject([{ code: 0 }, { code: 0 }]);
    const entry = { text: 'select id, at, action, actor_id from integrations.audit_events where company_id = $1', values: [leaving.id] };
    const { rows: entries } = await system.database.query(entry);
    expect(entries).toHaveLength(1);
    await system.stop();
    await server.restore(MOMENT);

    const restored = await command('restored');
    expect({ code: restored.code, stderr: restored.stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(restored.stdout)).toMatchObject({ erased: [leaving.id], erasedPeople: 1, deliveries: [], undone: [] });
    system = await startSystem({ storage });
    expect((await system.get(leaving, '/v1/accounts?limit=1')).status).toBe(401);
    await until(
      'nothing of the company but its audit entry',
      () => rowsWith(system.database, [leaving.id, PLANTED]),
      (found) => Object.keys(found).join() === 'integrations.audit_events' && found['integrations.audit_events'] === 1,
    );
    expect((await system.database.query(entry)).rows).toEqual(entries);
    await until(
      'nothing of the person',
      () => rowsWith(system.database, [PERSON]),
      (found) => Object.keys(found).length === 0,
    );
    expect((await system.get(staying, `/v1/accounts/${person}`)).body['data']).toMatchObject({ id: person, name: 'Erased person' });
    expect((await messagesWith({ brokers: system.serviceEnvironment['KAFKA_BROKERS']!, prefix: storage.kafkaPrefix }, [leaving.id, PLANTED])).state).toEqual(
      [],
    );
    expect(JSON.parse((await command('company', 'delete', leaving.id)).stdout)).toMatchObject({ deleted: true, company_id: leaving.id });
    expect(await command('company', 'delete', randomUUID())).toMatchObject({ code: 1 });
  },
  3 * MINUTES,
);
