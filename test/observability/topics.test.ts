import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { topics, type TopicDefinition } from '@truckroll/contract';
import { ROOT } from '@truckroll/local-stack';

const page = readFileSync(join(ROOT, 'docs/reference/topics.md'), 'utf8');
const NAMES = { latest: 'compacted', all: 'forever' };
const kept = ({ keeps }: TopicDefinition): string => (typeof keeps === 'string' ? NAMES[keeps] : `${keeps.days} ${keeps.days === 1 ? 'day' : 'days'}`);

test('docs/reference/topics.md lists every topic with its retention', () => {
  const table = /^\| Topic \| Owner .*\n(?:\|.*\n)+/m.exec(page)?.[0] ?? '';
  const rows = [...table.matchAll(/^\| `(truckroll\.[\w.-]+)` \|.*\| ([^|]+) \|$/gm)].map(([, name, keeps]) => [name, keeps]);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(Object.values(topics).map((topic) => [topic.name, kept(topic)])));
});
