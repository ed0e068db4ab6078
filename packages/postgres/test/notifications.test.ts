import { freshDatabase, openProxy, type TestDatabase } from '@truckroll/testing';
import { Database, type Statement, type Transaction } from '../src/index.ts';
import { Notifications } from '../src/notifications.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  const sql = 'create table thing (id int generated always as identity)';
  server = await freshDatabase({ trial: [{ name: 'trial', migrations: [{ name: '0001_thing', sql }] }] });
  database = new Database({ url: server.url, schema: 'trial' });
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

async function listening() {
  const session = await database.session();
  const received: string[] = [];
  const waiting = new Map<string, () => void>();
  session.onNotification((payload) => {
    received.push(payload);
    waiting.get(payload)?.();
  });
  await session.query({ text: 'listen news' });
  const receives = (payload: string) =>
    new Promise<void>((resolve) => {
      if (received.includes(payload)) resolve();
      else waiting.set(payload, resolve);
    });
  return { received, receives, close: () => session.close() };
}
const write = (tx: Transaction) => tx.query({ text: 'insert into thing values (default)' });

test('sends notifications after the commit, equal ones once, and none after a rollback', async () => {
  const { received, receives, close } = await listening();
  const undone = database.transaction(async (tx) => {
    await write(tx);
    tx.notify('news', ['undone']);
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  await database.transaction(async (tx) => {
    await write(tx);
    tx.notify('news', ['one', 'two', 'two']);
  });
  await receives('two');
  await database.query({ text: `select pg_notify('news', 'last')` });
  await receives('last');
  expect(received).toEqual(['one', 'two', 'last']);
  await close();
});

test('refuses, in test databases, a notification in a transaction that writes', async () => {
  const writing = database.transaction(async (tx) => {
    await write(tx);
    await tx.query({ text: `select pg_notify('news', 'within')` });
  });
  await expect(writing).rejects.toMatchObject({ cause: { message: 'a transaction that writes must not notify: use Transaction.notify' } });
});

test('sends notifications again after a lost connection, and the last ones before the pool closes', async () => {
  const { receives, close } = await listening();
  const { hostname, port } = new URL(server.url);
  const proxy = await openProxy({ host: hostname, port: Number(port) });
  const url = new URL(server.url);
  url.host = `127.0.0.1:${proxy.port}`;
  const distant = new Database({ url: url.href, schema: 'trial', maxConnections: 3 });
  let cut: Promise<void> | undefined;
  await distant.transaction(async (tx) => {
    await write(tx);
    tx.afterCommit(() => {
      cut = proxy.cut();
    });
    tx.notify('news', ['after the outage']);
  });
  await cut;
  await proxy.restore();
  await receives('after the outage');
  await distant.transaction(async (tx) => {
    await write(tx);
    tx.notify('news', ['before the end']);
  });
  await distant.close();
  await receives('before the end');
  await proxy.close();
  await close();
});

test('sends notifications that failed again before newer ones, and each once', async () => {
  const { received, receives, close } = await listening();
  let [isDown, attempts] = [true, 0];
  const query = async (statement: Statement): Promise<never> => {
    attempts += 1;
    if (!isDown) return (await database.query(statement)) as never;
    throw new Error('the database is away');
  };
  const notifications = new Notifications({ query });
  notifications.send('news', ['old 1', 'old 2']);
  // While the first statement is in flight.
  notifications.send('news', ['new', 'old 1']);
  isDown = false;
  await receives('new');
  expect([received, attempts]).toEqual([['old 1', 'old 2', 'new'], 2]);
  await notifications.close();
  await close();
});

test('gives up notifications that fail once more when it closes', async () => {
  let attempts = 0;
  const failed = Promise.withResolvers<void>();
  const query = async (): Promise<never> => {
    attempts += 1;
    failed.resolve();
    throw new Error('the database is away');
  };
  const notifications = new Notifications({ query });
  notifications.send('news', ['never sent']);
  await failed.promise;
  await notifications.close();
  expect(attempts).toBe(2);
  notifications.send('news', []);
  expect(attempts).toBe(2);
});
