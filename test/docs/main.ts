// npm run check:docs: runs every sample of the reference and the guides, triggers every documented error, and checks that agents can use the
// pages. The system is that of
// npm start, or the one in TRUCKROLL_URL.
import { join } from 'node:path';
import { buildSite } from '../../gateway/docs/src/site.ts';
import { checkForAgents } from './agents.ts';
import { checkErrors, checkSamples } from './check.ts';
import { signInWhenAsked } from '../../tools/local-stack/test/device-user.ts';
import { guideCode } from './guide-code.ts';
import { runSample } from './run-sample.ts';
import { present, standInsOf, tidy } from './stand-ins.ts';
import { readTarget } from './target.ts';

const root = join(import.meta.dirname, '../..');
const languages = new Set(['bash', 'typescript', 'python']);
/** For reads. Writes run one at a time, because they compare revisions of the same visits. */
const AT_ONCE = 4;

const target = readTarget(root);
const { operations } = buildSite(root);
const prepare = standInsOf(target);
const before = await present(target);
const wrong: string[] = [];
let samples = 0;

async function check(operation: (typeof operations)[number]): Promise<void> {
  wrong.push(...(await checkSamples(operation, target, prepare, languages)), ...(await checkErrors(operation, target, prepare)));
  samples += operation.samples.length;
}

try {
  const reads = operations.filter(({ idempotent }) => !idempotent);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = reads.shift(); next !== undefined; next = reads.shift()) await check(next);
    }),
  );
  for (const operation of operations.filter(({ idempotent }) => idempotent)) await check(operation);
  wrong.push(...(await checkForAgents(target)));
  for (const { name, code, language } of guideCode(root)) {
    const { code: exit, stdout, stderr } = await runSample(code, language, target, { onStart: signInWhenAsked });
    if (exit !== 0) wrong.push(`${name}: ended with ${exit}\n${stdout}${stderr}`);
    samples += 1;
  }
} finally {
  await tidy(target, before);
}

for (const text of wrong) console.error(text);
console.log(`${samples} samples of ${operations.length} operations and the guides run; ${wrong.length} are wrong.`);
process.exitCode = wrong.length === 0 ? 0 : 1;
