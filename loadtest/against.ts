// npm run bench:against: this checkout compared with another commit, in turn on one machine.
import { statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem, runMain } from '@truckroll/local-stack';
import { checkoutOf, commitOf, thisCheckout } from './against/checkouts.ts';
import { compare, tableOf, verdictOf } from './against/compare.ts';
import type { StartLoad } from './against/load.ts';
import { idle } from './against/idle.ts';
import { imports } from './against/imports.ts';
import { readsOf, reports } from './against/reads.ts';
import { backlog, receipts, webhooks } from './against/webhooks.ts';
import { writes } from './against/writes.ts';
import { exitCodeOf, LEAST } from './measure/paired.ts';
import { requireWrk } from './measure/wrk.ts';
import { positive } from './system/benchmark.ts';

const KINDS: Readonly<Record<string, StartLoad>> = {
  reads: readsOf('pages'),
  details: readsOf('details'),
  writes,
  webhooks,
  backlog,
  receipts,
  imports,
  reports,
  idle,
};

const HELP = `npm run bench:against -- COMMIT ${Object.keys(KINDS).join('|')} [--pairs 10] [--seconds 8] [--rate 150] [--now COMMIT] [--results FILE] [--quick]

Builds COMMIT in .truckroll/checkouts, loads it and this checkout (or the commit of --now) in turn over HTTP, gRPC and Kafka, and prints
medians, and how many times as good (fast, cheap) the new side is: above 1 is better. That is the middle of the pairs' ratios, with bounds
that hold with 95 % confidence each. Exits with 1 if throughput or CPU time per operation is worse for certain: if the upper bound of its
ratio is below ${LEAST}. With fewer than 5 pairs there are no bounds. receipts sends --rate webhooks a second and shows their latency, for which
it never fails.
COMMIT release is the last release, best is the best commit so far (loadtest/records.json). --results writes all figures to a file.
--quick uses little data and 5 short rounds: for developing only.
`;

await runMain(async () => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { pairs: text, seconds: text, rate: text, now: text, results: text, quick: flag, help: flag },
  });
  const [commit, kind, ...rest] = positionals;
  if (values.help || commit === undefined || kind === undefined || rest.length > 0) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const start = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (start === undefined) throw new Problem(`${kind} is not known: give ${Object.keys(KINDS).join(', ')}.`);
  requireWrk();
  const { quick, results } = values;
  const pairs = positive('pairs', values.pairs) ?? (quick ? 5 : 10);
  if (!Number.isInteger(pairs)) throw new Problem(`--pairs must be a whole number, not ${pairs}.`);
  const size = { quick, pairs, seconds: positive('seconds', values.seconds) ?? (quick ? 1 : 8), rate: positive('rate', values.rate) ?? 150 };
  if (results !== undefined && !isFolder(dirname(results))) throw new Problem(`--results ${results}: make its folder first.`);
  if (results !== undefined && isFolder(results)) throw new Problem(`--results ${results} is a folder: name a file in it.`);
  // Both before the first is checked out, which takes a minute.
  const commits = [commitOf(commit, kind), values.now === undefined ? undefined : commitOf(values.now, kind)] as const;
  const subjects = {
    before: checkoutOf(commits[0]),
    after: commits[1] === undefined ? thisCheckout() : checkoutOf(commits[1]),
  };
  const comparison = await compare(subjects, start, size);
  const { rows, others } = comparison;
  const names = { before: subjects.before.name, after: subjects.after.name };
  process.stdout.write(`\n${kind}, ${pairs} pairs\n${tableOf(rows, names)}\n${verdictOf(comparison)}`);
  if (results !== undefined) writeFileSync(results, `${JSON.stringify({ kind, ...names, pairs, others, rows }, null, 2)}\n`);
  return exitCodeOf(rows.filter(({ judged }) => judged).map(({ ratio }) => ratio));
});

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
