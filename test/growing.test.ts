// What docs/how-to/growing.md says agrees with the pages that it rests on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const page = (name: string): string => readFileSync(join(ROOT, `docs/how-to/${name}.md`), 'utf8').replace(/\s+/g, ' ');

test('how far one machine reaches follows from the measured rates', () => {
  const scale = page('scale');
  const [, rate, , , , , postgresql] = /\| a day's mixture ((?:\| [\d.]+ )+)\|/.exec(scale)![1]!.split('|').map(Number) as [number, number, ...number[]];
  const jobs = /(\d+),000 jobs per GB/.exec(scale)![1];
  const cores = Math.round(5000 / rate);
  const ofPostgres = Math.ceil((5000 * postgresql!) / 100) / 10;
  expect(page('growing')).toContain(
    `5,000 requests a second of a day's mixture take ${cores} [cores](scale.md#cores), of which PostgreSQL needs ${ofPostgres}, and a terabyte holds ${jobs} million jobs`,
  );
});

test('a server for each service is said to exclude moves wherever one reads of it', () => {
  expect(page('growing')).toContain('Its companies cannot be [moved](move-a-company.md)');
  expect(page('managed-servers')).toContain('Companies of such a cell cannot be [moved](move-a-company.md)');
  expect(page('move-a-company')).toMatch(/every service of a cell uses one database: a \[server for each service\]\(\S+\) is refused/);
});
