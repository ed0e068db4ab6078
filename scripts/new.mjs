// npm run new -- record NAME --owner SERVICE | event NAME --from SERVICE --to SERVICE | service NAME: writes the skeleton of one, with a test that
// fails and says what to write first. `--root FOLDER` does so in another checkout.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Changes, Refusal } from './new/changes.mjs';
import { addEvent } from './new/event.mjs';
import { addRecord } from './new/record.mjs';
import { addService } from './new/service.mjs';

const KINDS = {
  record: { add: addRecord, options: ['owner'] },
  event: { add: addEvent, options: ['from', 'to'] },
  service: { add: addService, options: [] },
};
const USAGE = `usage: npm run new -- record NAME --owner SERVICE
       npm run new -- event NAME --from SERVICE --to SERVICE
       npm run new -- service NAME`;

function asked() {
  const option = { type: 'string' };
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { root: option, owner: option, from: option, to: option } });
  const [kind = '', name, ...more] = positionals;
  if (!Object.hasOwn(KINDS, kind)) throw new Refusal(`there is no kind ${kind || 'given'}.\n${USAGE}`);
  if (name === undefined || more.length > 0) throw new Refusal(`a ${kind} has one name.\n${USAGE}`);
  const { root = join(import.meta.dirname, '..'), ...given } = values;
  const unused = Object.keys(given).find((each) => !KINDS[kind].options.includes(each));
  if (unused !== undefined) throw new Refusal(`a ${kind} takes no --${unused}.\n${USAGE}`);
  return { kind, name, root, given };
}

try {
  const { kind, name, root, given } = asked();
  const changes = new Changes(root);
  const next = KINDS[kind].add(changes, root, name, given);
  changes.write();
  for (const path of changes.paths) console.log(`wrote ${path}`);
  console.log(['Next:', ...next].join('\n  '));
} catch (error) {
  if (!(error instanceof Refusal) && !error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
