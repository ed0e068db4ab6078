// Fails if gateway/openapi.json breaks clients of the last release without an announcement. `node scripts/run.mjs check:api`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiTools } from './api-tools.mjs';

const root = join(import.meta.dirname, '..');
const released = join(root, 'proto/released.openapi.json');
const current = readFileSync(join(root, 'gateway/openapi.json'), 'utf8');
/** Days that something must be deprecated before it is removed; the contract checks the same. */
const NOTICE = 365;
const oasdiff = join(apiTools(), 'oasdiff');

const { good, text } = compare(current);
if (!good) {
  console.error(text);
  console.error('A caller of the last release breaks on this. Take it back; or announce it: CONTRIBUTING.md, "When you touch the API", says how.');
}
const blind = good ? breaks().filter(([, description]) => compare(JSON.stringify(description)).good) : [];
for (const [name] of blind) console.error(`The comparison does not notice it when ${name}.`);
process.exitCode = good && blind.length === 0 ? 0 : 1;
if (process.exitCode === 0) console.log('nothing of the last release breaks unannounced');

function compare(input) {
  const args = ['breaking', released, '-', '--fail-on', 'ERR', '--deprecation-days-stable', String(NOTICE)];
  // The levels let enumerations grow: callers ignore values that they do not know (docs/changelog.md).
  args.push('--err-ignore', join(root, 'proto/announced.txt'), '--severity-levels', join(root, 'scripts/api-levels.txt'));
  const { status, stdout, stderr } = spawnSync(oasdiff, args, { input, encoding: 'utf8', maxBuffer: 1e8 });
  // Exit code 1 means a breaking change; a higher one means that the comparison failed.
  if (status !== 0 && status !== 1) throw new Error(`oasdiff failed: ${stderr}`);
  return { good: status === 0, text: stdout };
}

/** The description with breaking changes, to check that the comparison still detects them. */
function breaks() {
  const broken = (change) => {
    const description = JSON.parse(current);
    change(description);
    return description;
  };
  return [
    ['an operation goes', broken(({ paths }) => delete paths['/v1/invoices/{id}'])],
    [
      'a field of an answer goes',
      broken(({ components: { schemas } }) => {
        delete schemas.Invoice.properties.number;
        schemas.Invoice.required = schemas.Invoice.required.filter((name) => name !== 'number');
      }),
    ],
    [
      'a parameter becomes required',
      broken(({ paths }) => {
        paths['/v1/invoices'].get.parameters.find(({ name }) => name === 'status').required = true;
      }),
    ],
  ];
}
