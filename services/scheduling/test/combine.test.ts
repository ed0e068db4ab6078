import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { expression, combine } from '../src/statements/combine.ts';

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase({});
  database = new Database({ url: fresh.url });
  await database.query({ text: 'create table thing (id int primary key, amount int)' });
  await database.query({ text: 'create table noted (text text)' });
  drop = () => fresh.drop();
});
afterAll(async () => {
  await database.close();
  await drop();
});

const storing = (id: number, amount: number, text: string) =>
  combine('store_and_note', [
    { text: 'thing as (insert into thing values ($1, $2) returning id), other as (insert into thing select -id, $2 from thing)', values: [id, amount] },
    expression('noted', { text: 'insert into noted values ($1)', values: [text] }),
  ]);

test('every part takes effect, with its own values', async () => {
  await database.query(storing(1, 10, 'first'));
  await database.query(storing(2, 20, 'second'));
  expect((await database.query({ text: 'select id, amount from thing order by id' })).rows).toEqual([
    { id: -2, amount: 20 },
    { id: -1, amount: 10 },
    { id: 1, amount: 10 },
    { id: 2, amount: 20 },
  ]);
  expect((await database.query({ text: 'select text from noted order by text' })).rows).toEqual([{ text: 'first' }, { text: 'second' }]);
});

test('a part that is refused undoes the others', async () => {
  const before = (await database.query({ text: 'select count(*) from noted' })).rows;
  await expect(database.query(storing(1, 10, 'again'))).rejects.toMatchObject({ sqlState: '23505' });
  expect((await database.query({ text: 'select count(*) from noted' })).rows).toEqual(before);
});
