// Generates parts of docs/reference and deploy/dashboards from the code and loadtest/slo.json. With --check, fails if committed files differ.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCommands } from './commands-page.ts';
import { listMetrics } from './components.ts';
import { componentSettings, settingComments, withVariables } from './configuration-page.ts';
import { withEvents } from './events-page.ts';
import { withMetrics } from './metrics-page.ts';
import { sloRules, type Objectives } from './slo-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
const page = (name: string, make: (text: string) => string): [string, string] => {
  const file = `docs/reference/${name}.md`;
  return [file, make(read(file))];
};

const settings = await componentSettings();
const written = Object.fromEntries([
  page('cli', withCommands),
  page('configuration', (text) => withVariables(text, settings, settingComments())),
  page('metrics', (text) => withMetrics(text, listMetrics())),
  page('topics', withEvents),
  ['deploy/dashboards/slo.yaml', sloRules(JSON.parse(read('loadtest/slo.json')) as Objectives)],
]);
for (const [file, text] of Object.entries(written)) {
  if (read(file) === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file} is not what the code and loadtest/slo.json say: run \`npm run observability\` and commit it`);
    process.exitCode = 1;
  } else writeFileSync(join(root, file), text);
}
process.exit();
