import { readList, writeList, digestOf } from './list.ts';
const list = readList();
for (const f of process.argv.slice(2)) {
  const e = list.measured[f];
  list.measured[f] = { ...e, digest: digestOf(f, e.tests) };
}
writeList(list);
