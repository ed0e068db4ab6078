// A search finds what a plain scan of all records finds, however its words are spelled and whichever way it is read.
import { randomUUID } from 'node:crypto';
import { ListAccountsRequest, ListAccountsResponse, type Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { silentLog } from '@truckroll/telemetry';
import fc from 'fast-check';
import type { SearchLimits } from '../packages/record-store/src/find.ts';
import { NameCache } from '../packages/record-store/src/names.ts';
import { RecordReader, type Table } from '../packages/record-store/src/index.ts';
import { accounts } from '../services/scheduling/src/resources/accounts.ts';
import { importRecords } from './support/company.ts';
import { startOwners, type Owners } from './support/owners.ts';

/** Words and names that a careless comparison misses. */
const NAMES = [
  'José Núñez',
  'Jose\u0301 Nun\u0303ez',
  'Renée D’Angelo',
  "O'Brien & Sons",
  'O\u02bcBrien',
  'Kaʻanapali',
  'ﬁne ﬂoors oﬃce',
  'Straße Groß',
  'STRASSE GROSS',
  'ＡＢＣ　Ｐｌｕｍｂｉｎｇ',
  '東京水道工事',
  '東京都',
  'カタカナ ガス',
  'ｶﾞｽ屋',
  'ラーメン',
  '한국 배관',
  'חברת אינסטלציה',
  'שִׁירוּת',
  'شركة السباكة',
  '\u202eشركة\u202c 42',
  'ΟΔΟΣ Οδός',
  'İstanbul Isı ılık',
  'Привет Ёлка',
  '🔧 Fix-It 👩‍🔧 24/7',
  'A/C №5',
  'x² ½ ①',
  'soft\u00adhyphen zero\u200bwidth',
  '100% _under\\score',
  'Ann Anna Annabel',
  'Smith & Jones',
  'Jones',
  'a',
];
const NUMBERS = ['+15125550100', '+15125550194', '+442079460958', '+390612345678', '+4930123456', '+18305550100', '+3545550100'];
/** Spellings of +15125550100, +442079460958 and +390612345678. */
const SPELLINGS = [
  ...['+15125550100', '15125550100', '5125550100', '(512) 555-0100', '512-555-0100', '512.555.0100', '512 555 0100', '+1 (512) 555-0100'],
  ...['001 512 555 0100', '[512] 555 0100', '512\u00a0555\u00a00100', '５１２５５５０１００', '512–555–0100', '555-0100', '\u202a+1 512 555 0100\u202c'],
  ...['+442079460958', '02079460958', '020 7946 0958', '+44 (0)20 7946 0958', '0044 20 7946 0958', '+39 06 1234 5678', '06 12345678'],
];

const company = randomUUID();
const stranger = randomUUID();
let owners: Owners;
let all: Account[];

const at = (index: number): string => new Date(Date.UTC(2024, 0, 1) + (index % 97) * 60_000).toISOString();
const lineOf = ({ id, name, phone, email }: Pick<Account, 'id' | 'name' | 'phone' | 'email'>, index: number) => ({
  id,
  name,
  type: 'RESIDENTIAL',
  archived: false,
  phone,
  email,
  do_not_service: false,
  notifications_enabled: true,
  tags: [],
  created_at: at(index),
  updated_at: at(index),
});

beforeAll(async () => {
  owners = await startOwners();
  const some = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => names.join(' '));
  const records = fc.sample(fc.record({ id: fc.uuid(), name: some, phone: fc.option(fc.constantFrom(...NUMBERS)) }), { numRuns: 300, seed: 51 });
  const lines = records.map((record, i) => lineOf({ ...record, email: i % 3 === 0 ? `Ann.Lee_${i % 7}@Example.com` : null }, i));
  for (const each of [company, stranger]) expect((await importRecords(owners.channels.scheduling, each, 'accounts', lines)).problems).toEqual([]);
  all = (await owners.list(company, 'accounts')) as Account[];
}, 120_000);
afterAll(() => owners.stop());

/** Every page of the list, read with the limits. */
async function found(asked: Partial<ListAccountsRequest>, limits?: SearchLimits, limit = 100): Promise<string[]> {
  const database = owners.databases.scheduling;
  const names = new NameCache(database, 'scheduling', silentLog);
  const reader = new RecordReader(accounts as Table<any> as Table, { database, names, ...(limits && { limits }) });
  const ids: string[] = [];
  for (let after: Uint8Array = new Uint8Array(); ; ) {
    const collection = { company_id: company, time_zone: 'UTC', limit, after };
    const request = { ...ListAccountsRequest.decode(new Uint8Array()), ...asked, collection };
    const { data, next } = ListAccountsResponse.decode(await reader.list(request, { onClosed: () => undefined }));
    ids.push(...data.map(({ id }) => id));
    if (next.length === 0) return ids;
    after = next;
  }
}

/** The words of a text, one character at a time. */
function words(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[ʻʼ]/g, "'")
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC');
  const runs: { cjk: boolean; text: string }[] = [];
  let open = false;
  for (const character of plain) {
    const part = /[\p{L}\p{N}]/u.test(character);
    const cjk = part && /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u.test(character);
    const last = runs.at(-1);
    if (part && open && last?.cjk === cjk) last.text += character;
    else if (part) runs.push({ cjk, text: character });
    open = part;
  }
  return runs.flatMap((run) => {
    const characters = [...run.text];
    return run.cjk && characters.length > 1 ? characters.slice(1).map((character, i) => `${characters[i]}${character}`) : [run.text];
  });
}

function scan(asked: string): string[] {
  const wanted = words(asked);
  const matching = all.filter(({ name, phone, email }) => {
    const own = [name, phone ?? '', email ?? ''].flatMap(words);
    return wanted.every((word) => own.some((each) => each.startsWith(word)));
  });
  return matching.map(({ id }) => id);
}

const LIMITS: [string, SearchLimits | undefined][] = [
  ['by the entries of its rarest word', undefined],
  ['by the entries of two words', { entries: 10_000, many: 0, walked: 1 }],
  ['by the list, a few records at a time', { entries: 0, many: 0, walked: 23 }],
  ['by either, as words are rare or frequent', { entries: 30, many: 5, walked: 40 }],
];

const spelled = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.normalize('NFD'),
  (text) => text.normalize('NFKC'),
  (text) => text.replace(/[!-~]/g, (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
  (text) => text.replace(/['’]/g, ' '),
);
const part = fc.tuple(fc.constantFrom(...NAMES, ...NAMES.flatMap((name) => name.split(' '))), fc.nat(8), spelled).map(([name, length, spell]) => {
  return spell([...name].slice(0, Math.max(1, length)).join(''));
});
const query = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(' '))
  .filter((text) => words(text).length > 0 && !/\d[\d\s+\-.()[\]]{6}/.test(text));

describe.each(LIMITS)('read %s', (_, limits) => {
  test('a search finds what a scan of all records finds, in the order of the list', async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom(3, 50, 100), async (text, limit) => {
        expect({ text, ids: await found({ search: text }, limits, limit) }).toEqual({ text, ids: scan(text) });
      }),
      { numRuns: 60, seed: 17 },
    );
  });

  test.each(SPELLINGS)('the telephone number %s is found in its records', async (text) => {
    const digits = text
      .normalize('NFKC')
      .replace('(0)', '')
      .replace(/[^0-9]/g, '')
      .replace(/^0+/, '');
    const ids = all.filter(({ phone }) => phone?.endsWith(digits)).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(await found({ search: text }, limits)).toEqual(ids);
    const exact = all.filter(({ phone }) => phone?.endsWith(digits) && phone.length - 1 - digits.length <= 3).map(({ id }) => id);
    expect(await found({ phone: [text] }, limits)).toEqual(exact);
  });

  test.each(['tel:+15125550100', 'TEL:+1-512-555-0100;ext=12', '(512) 555-0100 x12', '512-555-0100 ext. 12', '5125550100, extension 3'])(
    'the filter phone takes %s',
    async (text) => expect(await found({ phone: [text] }, limits)).toEqual(await found({ phone: ['+15125550100'] }, limits)),
  );

  test('a telephone number and a word must both match, as must other filters', async () => {
    const ids = all.filter(({ name, phone }) => phone === '+15125550100' && words(name).some((word) => word.startsWith('jones'))).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(await found({ search: 'jones (512) 555-0100' }, limits)).toEqual(ids);
    expect(await found({ search: 'jones', phone: ['512 555 0100', '+39 06 99'] }, limits)).toEqual(ids);
    expect(await found({ search: 'jones 5125550100', archived: true }, limits)).toEqual([]);
  });

  test('an e-mail address is found in any case, and only as a whole', async () => {
    const ids = all.filter(({ email }) => email === 'Ann.Lee_3@Example.com').map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(await found({ email: ['ANN.LEE_3@example.com', 'unknown@example.com'] }, limits)).toEqual(ids);
    expect(await found({ email: ['ann.lee@example.com', 'annxlee_3@example.com', 'ee_3@example.com'] }, limits)).toEqual([]);
  });
});

test('entries follow a record that is renamed, changes its time of creation or loses its number, and no other', async () => {
  const account = all.find(({ phone, email }) => phone != null && email != null)!;
  const entries = async (): Promise<[stored: number, expected: number, both: number]> => {
    const { rows } = await owners.databases.scheduling.query<{ stored: number; expected: number; both: number }>({
      text: `with expected as (
          select created_at, id, unnest(string_to_array(trim(both E'\\n' from search), E'\\n')) as value from accounts where company_id = $1
        )
        select (select count(*) from account_entries where company_id = $1)::int as stored, (select count(*) from expected)::int as expected,
          (select count(*) from account_entries e join expected x using (created_at, id, value) where e.company_id = $1)::int as both`,
      values: [company],
    });
    const [{ stored, expected, both }] = rows as [{ stored: number; expected: number; both: number }];
    return [stored, expected, both];
  };
  const [before] = await entries();
  expect(await entries()).toEqual([before, before, before]);
  const renamed = { ...lineOf({ id: account.id, name: 'Zweig', phone: null, email: account.email }, 5), created_at: '2020-01-01T00:00:00.000001Z' };
  expect(await importRecords(owners.channels.scheduling, company, 'accounts', [renamed])).toMatchObject({ changed: 1, problems: [] });
  const [stored, expected, both] = await entries();
  expect(stored).not.toBe(before);
  expect([expected, both]).toEqual([stored, stored]);
  expect(await found({ search: 'zwei' })).toEqual([account.id]);
  expect(await found({ search: account.phone! })).not.toContain(account.id);
});
