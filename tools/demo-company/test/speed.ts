/**
 * `node scripts/run.mjs demo:speed [company|invoices|visits] [count]` prints, for each path, the number of records, bytes per line
 * and records per second (including writing lines), and the peak memory.
 */
import { generateCompany, generateInvoices, generateVisits, type DemoFile } from '../src/index.ts';

const [kind = 'company', count] = process.argv.slice(2);
const rest = { seed: 1, timezone: 'America/Chicago', until: '2026-03-10T16:00:00Z' };

function filesOf(): readonly DemoFile[] {
  if (kind === 'visits') return generateVisits({ ...rest, visits: Number(count ?? 1_000_000) });
  if (kind === 'company') return generateCompany({ ...rest, size: Number(count ?? 20_000) });
  const companies = [...generateInvoices({ ...rest, companies: 20, invoicesPerCompany: Number(count ?? 10_000) })];
  return companies.flatMap(({ files }) => files);
}

const totals = new Map<string, { records: number; bytes: number; seconds: number }>();
let peak = 0;
for (const { path, records } of filesOf()) {
  const total = totals.get(path) ?? { records: 0, bytes: 0, seconds: 0 };
  const began = performance.now();
  for (const record of records) {
    total.bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    if (++total.records % 10_000 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  total.seconds += (performance.now() - began) / 1000;
  totals.set(path, total);
}
const all = { records: 0, bytes: 0, seconds: 0 };
for (const [path, total] of [...totals, ['all', all] as const]) {
  const { records, bytes, seconds } = total;
  if (path !== 'all') Object.assign(all, { records: all.records + records, bytes: all.bytes + bytes, seconds: all.seconds + seconds });
  console.log(path.padEnd(22), String(records).padStart(9), `${Math.round(bytes / records)} B`.padStart(8), `${Math.round(records / seconds)}/s`.padStart(10));
}
console.log(`${all.seconds.toFixed(1)} s, ${Math.round(all.bytes / 1e6)} MB, at most ${Math.round(peak / 1e6)} MB of memory`);
