// Checks the chart without a cluster: `npm run check:chart`. With `-- --write`, accepts the current rendered manifests and README.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { chartComponents } from './chart-components.mjs';
import { chartTools } from './chart-tools.mjs';
import { refusals } from './helm/refusals.mjs';
import { shortDiff } from './helm/short-diff.mjs';

const chart = join(import.meta.dirname, 'helm/truckroll');
const golden = join(import.meta.dirname, 'helm/golden');
const cases = join(import.meta.dirname, 'helm/cases');
const schemas = join(import.meta.dirname, 'schemas', '{{.Group}}_{{.ResourceKind}}_{{.ResourceAPIVersion}}.json');
/** Kinds in deploy/helm/cases and deploy/examples whose schemas are in no Go module. */
const NO_SCHEMA = ['route.openshift.io/v1/Route', ...['Kafka', 'KafkaNodePool', 'KafkaUser'].map((kind) => `kafka.strimzi.io/v1beta2/${kind}`)].join();
const write = process.argv.includes('--write');
const faults = [];
const tools = chartTools();

function run(tool, args, input) {
  const { status, stdout, stderr } = spawnSync(join(tools, tool), args, { encoding: 'utf8', input, maxBuffer: 1e8 });
  return { good: status === 0, text: `${stdout}${stderr}`, stdout };
}

function expect(good, fault) {
  if (!good) faults.push(fault);
}

/** Compares a text with the committed file, or with --write replaces the file. */
function same(path, text) {
  if (write) return writeFileSync(path, text);
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (kept === text) return undefined;
  const line = text.split('\n').findIndex((each, index) => each !== kept.split('\n')[index]);
  return void faults.push(`${path} is not what is rendered now, from line ${line + 1} on: look at it after npm run check:chart -- --write`);
}

same(join(chart, 'components.json'), chartComponents);

// The chart contains copies of the dashboards and alert rules.
const dashboards = join(import.meta.dirname, 'dashboards');
const shipped = (folder) => (existsSync(folder) ? readdirSync(folder).filter((file) => /\.(json|yaml)$/.test(file) && !file.includes('.test.')) : []);
if (write) rmSync(join(chart, 'dashboards'), { recursive: true, force: true });
if (write && existsSync(dashboards))
  cpSync(dashboards, join(chart, 'dashboards'), { recursive: true, filter: (path) => path === dashboards || shipped(dashboards).includes(basename(path)) });
for (const file of new Set([...shipped(dashboards), ...shipped(join(chart, 'dashboards'))])) {
  const [own, copy] = [dashboards, join(chart, 'dashboards')]
    .map((folder) => join(folder, file))
    .map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''));
  expect(own === copy, `${file} is not the same in deploy/dashboards and in the chart: npm run check:chart -- --write copies it there`);
}

/** The pods of the chart under another version. They must not differ, or an upgrade without changes would restart them. */
function podsOfAnotherVersion(values) {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-chart-'));
  try {
    cpSync(chart, folder, { recursive: true });
    const facts = readFileSync(join(chart, 'Chart.yaml'), 'utf8');
    writeFileSync(join(folder, 'Chart.yaml'), facts.replace(/^version: .*$/m, 'version: 99.0.0'));
    return podTemplates(run('helm', ['template', 'truckroll', folder, '--namespace', 'truckroll', '--kube-version', '1.34', ...values]).stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const podTemplates = (manifests) =>
  manifests
    .split('\n---\n')
    .filter((each) => /^kind: Deployment$/m.test(each))
    .map((each) => each.slice(each.indexOf('\n  template:')))
    .join('\n---\n');

/** Checks manifests against the schemas of deploy/schemas. */
function conform(what, path, manifests = '') {
  const { good, text } = run('kubeconform', ['-strict', '-summary', '-skip', NO_SCHEMA, '-schema-location', schemas, path], manifests);
  expect(good, `kubeconform of ${what}: ${text}`);
}

const profiles = readdirSync(join(chart, 'ci')).map((file) => basename(file, '-values.yaml'));
for (const profile of profiles) {
  const values = ['--values', join(chart, 'ci', `${profile}-values.yaml`)];
  const lint = run('helm', ['lint', '--strict', chart, ...values]);
  expect(lint.good, `helm lint of ${profile}: ${lint.text}`);
  const render = () => run('helm', ['template', 'truckroll', chart, '--namespace', 'truckroll', '--kube-version', '1.34', ...values]);
  const [first, second] = [render(), render()];
  expect(first.good, `${profile} cannot be rendered: ${first.text}`);
  expect(first.stdout === second.stdout, `${profile} is rendered differently from time to time`);
  expect(podsOfAnotherVersion(values) === podTemplates(first.stdout), `${profile}: a change of the chart's version alone would restart pods`);
  // Dashboards are left out: they are compared with deploy/dashboards above.
  same(join(golden, `${profile}.yaml`), first.stdout.replace(/^( {2}[\w-]+\.json: \|-\n)(?: {4}.*\n|\n)+/gm, '$1    …\n'));
  conform(profile, '-', first.stdout);
}

// Value files as teams write them, over the required values. Of each render, what differs from that of the required values alone is kept.
const REFUSED = /^# refused: (.*)$/m;
const renderedOver = (...files) =>
  run('helm', ['template', 'truckroll', chart, '--namespace', 'truckroll', '--kube-version', '1.34', ...files.flatMap((file) => ['--values', file])]);
const required = join(chart, 'ci/minimal-values.yaml');
const base = renderedOver(required).stdout;
const names = readdirSync(cases).flatMap((file) => (file.endsWith('.yaml') ? [basename(file, '.yaml')] : []));
const rendered = [];
for (const name of names) {
  const file = join(cases, `${name}.yaml`);
  const [, refusal] = REFUSED.exec(readFileSync(file, 'utf8')) ?? [];
  const { good, text, stdout } = renderedOver(required, file);
  if (refusal !== undefined) {
    expect(!good && text.includes(refusal), `${file} is not refused with that sentence: ${text.slice(0, 300)}`);
    continue;
  }
  expect(good, `${file} cannot be rendered: ${text}`);
  if (!good) continue;
  same(join(cases, `${name}.diff`), shortDiff(base, stdout));
  rendered.push(stdout);
}
conform('deploy/helm/cases', '-', rendered.join('\n---\n'));
conform('deploy/examples', join(import.meta.dirname, 'examples'));

const templates = readdirSync(join(chart, 'templates'), { recursive: true }).filter((file) => /\.(yaml|txt)$/.test(file));
for (const template of templates) {
  const test = join(
    chart,
    'tests',
    `${basename(template)
      .replace(/\.\w+$/, '')
      .toLowerCase()}_test.yaml`,
  );
  expect(existsSync(test) && readFileSync(test, 'utf8').includes(template), `templates/${template} has no tests: write ${test}`);
}
const unit = run('helm-unittest', ['--strict', '--file', 'tests/*_test.yaml', chart]);
expect(unit.good, unit.text);

for (const { values, message } of refusals) {
  const { good, text } = run('helm', ['template', 'truckroll', chart, '--values', '-'], JSON.stringify(values));
  expect(!good && text.includes(message), `${JSON.stringify(values)} is not refused with ${JSON.stringify(message)}: ${text.slice(0, 300)}`);
}

const docs = run('helm-docs', ['--chart-search-root', chart, '--dry-run', '--log-level', 'error', '--sort-values-order', 'file']);
expect(docs.good, docs.text);
same(join(chart, 'README.md'), `${docs.stdout.trim()}\n`);

for (const fault of faults) console.error(`${fault.trim()}\n`);
const tests = /Tests:\s+(?:\d+ failed, )?(\d+) passed/.exec(unit.text)?.[1] ?? 0;
console.log(
  `${profiles.length} profiles, ${names.length} value files, ${templates.length} templates, ${tests} tests of them, ${refusals.length} refused values: ${faults.length} faults`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
