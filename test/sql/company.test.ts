// Every statement of the product names the company of each table that has one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '@truckroll/postgres';
import { freshDatabase } from '@truckroll/testing';
import { loadModule, parseSync } from 'libpg-query';
import { SCHEMAS } from '../support/components.ts';
import { UNKNOWN } from './evaluate.ts';
import { ACROSS_COMPANIES, FOUND_BY_PARENT, NOT_READ } from './exceptions.ts';
import { writtenStatements, type Written } from './statements.ts';
import { unbound } from './unbound.ts';

beforeAll(() => loadModule());

async function tablesOfCompanies(): Promise<Map<string, Set<string>>> {
  const fresh = await freshDatabase(Object.fromEntries(SCHEMAS.map(({ schema, migrations }) => [schema, migrations])));
  const database = new Database({ url: fresh.url, maxConnections: 1 });
  try {
    const { rows } = await database.query<{ schema: string; tables: string[] }>({
      text: `select table_schema as schema, array_agg(table_name::text) as tables from information_schema.columns
        where column_name = 'company_id' and table_schema = any($1) and table_name <> all($2) group by 1`,
      values: [SCHEMAS.map(({ schema }) => schema), FOUND_BY_PARENT],
    });
    return new Map(rows.map(({ schema, tables }) => [schema, new Set(tables)]));
  } finally {
    await database.close();
    await fresh.drop();
  }
}

/** The text as PostgreSQL's parser takes it, by itself or as common table expressions; undefined for what is no statement. */
function parseable(text: string): string | undefined {
  return [text, `with ${text} select`].find((each) => {
    try {
      return parseSync(each).stmts !== undefined;
    } catch {
      return false;
    }
  });
}

describe('the statements of the sources', () => {
  let written: Written[];
  let tables: Map<string, Set<string>>;

  beforeAll(async () => {
    written = writtenStatements();
    tables = await tablesOfCompanies();
  });

  test('can be read, except those listed', () => {
    const unread = written.filter(({ declared, texts }) => declared && texts.some((text) => parseable(text) === undefined));
    expect(unread.map(({ at }) => at).sort()).toEqual(Object.keys(NOT_READ).sort());
  });

  test('bind every table that has a company, except those listed', () => {
    const found = new Map<string, Set<string>>();
    for (const { at, file, texts } of written) {
      const own = tables.get(file.split('/')[1] as string);
      const hasCompany = (table: string): boolean =>
        table.startsWith(UNKNOWN) || (own === undefined ? [...tables.values()].some((each) => each.has(table)) : own.has(table));
      const labels = texts.flatMap((text) => {
        const statement = parseable(text);
        return statement === undefined ? [] : unbound(statement, hasCompany);
      });
      if (labels.length > 0) found.set(at, new Set([...(found.get(at) ?? []), ...labels]));
    }
    const listed = Object.assign({}, ...ACROSS_COMPANIES.map(({ statements }) => statements)) as Record<string, readonly string[] | '*'>;
    const shown = [...found].map(([at, labels]) => [at, listed[at] === '*' ? '*' : [...labels]]);
    expect(Object.fromEntries(shown)).toEqual(listed);
  });
});

test('reads texts that depend on conditions, callers, loops and constants of other files', () => {
  const root = mkdtempSync(join(tmpdir(), 'truckroll-sql-'));
  try {
    mkdirSync(join(root, 'packages/x/src'), { recursive: true });
    writeFileSync(join(root, 'packages/x/src/names.ts'), `export const MOST = 5;\nexport const IDS = ['a', 'b'];`);
    writeFileSync(
      join(root, 'packages/x/src/statements.ts'),
      `import { IDS, MOST } from './names.ts';
      const where = (conditions: string[]): string => conditions.map((each) => \`\${each} = $1\`).join(' and ');
      function select(table: string, all: boolean) {
        const conditions = [...IDS];
        if (!all) conditions.push('c');
        return { name: 'select', text: \`select \${table} from \${table} where \${where(conditions)} limit \${MOST}\${all ? '' : ' for update'}\` };
      }
      for (const table of ['x', 'y']) select(table, table.length > MOST);`,
    );
    const [{ at, texts } = { at: '', texts: [] as readonly string[] }] = writtenStatements(root);
    expect(at).toBe('packages/x/src/statements.ts select');
    const where = 'where a = $1 and b = $1 and c = $1 limit 5';
    expect([...texts].sort()).toEqual(['x', 'y'].flatMap((table) => ['', ' for update'].map((end) => `select ${table} from ${table} ${where}${end}`)));
  } finally {
    rmSync(root, { recursive: true });
  }
});

/** The tables a, b and c have the column company_id; d does not. */
const inExample = (sql: string): string[] => unbound(sql, (table) => ['a', 'b', 'c'].includes(table));

test.each([
  ['a parameter', 'select from a where company_id = $1'],
  ['a constant', `select from a where company_id = '00000000-0000-0000-0000-000000000000'`],
  ['a parameter that no index is used for', 'select from a where company_id is not distinct from $1'],
  ['one of several parameters', 'select from a where company_id = any($1::uuid[])'],
  ['a parameter in a row', 'select from a where (company_id, id) = ($1, $2)'],
  ['a table that is bound', 'select from a join b on b.company_id = a.company_id where a.company_id = $1'],
  ['a table that is bound, by USING', 'select from a join b using (company_id) where a.company_id = $1'],
  ['a table that is bound, in an outer join', 'select from a left join b on b.company_id = a.company_id where a.company_id = $1'],
  ['a table around it', 'select from a where a.company_id = $1 and exists (select from b where b.company_id = a.company_id)'],
  ['a table beside it', 'select from a cross join lateral (select from b where b.company_id = a.company_id) l where a.company_id = $1'],
  ['rows of a parameter', 'select from unnest($1::uuid[], $2::uuid[]) u(company_id, id) join a on a.company_id = u.company_id and a.id = u.id'],
  ['a column of a subquery', 'select from (select company_id as owner from b where company_id = $1) s join a on a.company_id = s.owner'],
  ['a restriction of a subquery', 'select from (select * from a) s where s.company_id = $1'],
  ['a restriction of all parts of a union', 'select from (select company_id from a union all select company_id from b) s where s.company_id = $1'],
  ['a common table expression', 'with w as (select * from a where company_id = $1) select from w join b on b.company_id = w.company_id'],
  ['what a change returns', 'with w as (delete from a where company_id = $1 returning *) update b set x = 1 from w where b.company_id = w.company_id'],
  ['the place of a row that is bound', 'delete from a where ctid = any(array(select ctid from a where company_id = $1 limit 5))'],
  ['a value', 'insert into a (id, company_id) values ($1, $2), ($3, $4)'],
  ['a selected value', 'insert into a (company_id, id) select b.company_id, b.id from b where b.company_id = $1'],
  [
    'the condition of MERGE',
    'merge into a using unnest($2::uuid[]) d(id) on a.company_id = $1 and a.id = d.id when not matched then insert (company_id) values ($1)',
  ],
  ['nothing, where a table has no company', 'select from d where id = $1'],
])('finds a table bound by %s', (_, sql) => {
  expect(inExample(sql)).toEqual([]);
});

test.each([
  ['no condition', 'select from a', ['a']],
  ['another column', 'select from a where id = $1', ['a']],
  ['a join by another column', 'select from a join b on b.id = a.id where a.company_id = $1', ['b']],
  ['a join by another column of the second of three', 'select from a x join b y on y.id = x.id join c z using (company_id) where x.company_id = $1', ['b y']],
  ['an order, not an equality', 'select from a where (company_id, id) > ($1, $2)', ['a']],
  ['one of two alternatives', 'select from a where company_id = $1 or $1 is null', ['a']],
  ['a negation', 'select from a where not company_id = $1', ['a']],
  ['the condition of an outer join for the side that it keeps', 'select from a left join b on a.company_id = $1 and b.company_id = $1', ['a']],
  ['what an inner query asks of an outer one', 'select (select max(b.id) from b where b.company_id = $1 and a.company_id = b.company_id) from a', ['a']],
  [
    'a union of which one part has no company',
    'with w as (select company_id from a union select company_id from b where company_id = $1) select from w',
    ['a'],
  ],
  ['another use of a common table expression', 'with w as (select * from a) select from w x, w y where x.company_id = $1', ['a']],
  ['a subquery in a list', 'select (select max(id) from b) from a where company_id = $1', ['b']],
  ['a column of another table', 'select from a join d on d.owner = a.company_id', ['a']],
  ['an insert without it', 'insert into a (id) values ($1)', ['a']],
  ['an insert of rows without it', 'insert into a (company_id, id) select company_id, id from b', ['b']],
  ['a change by another column', 'update a set x = 1 from b where b.company_id = $1 and a.id = b.id', ['a']],
  ['a deletion by another column', 'delete from a using b where b.company_id = $1 and a.id = b.id', ['a']],
  ['an insert of MERGE without it', 'merge into a using d on a.company_id = $1 when not matched then insert (id) values (d.id)', ['a']],
  ['a driving table, which alone is named', 'select from a join b on b.company_id = a.company_id join c on c.company_id = b.company_id', ['a']],
])('reports a table with %s', (_, sql, labels) => {
  expect(inExample(sql)).toEqual(labels);
});
