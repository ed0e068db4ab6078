// The skeleton of a service that owns a schema: it starts, migrates and answers health checks. Every list that names services includes it.
import { Refusal } from './changes.mjs';
import { pascal, screaming } from './names.mjs';

/** An existing owner: lines of the new service are inserted after its lines. */
const LIKE = 'reporting';
/** Workspace packages that the skeleton imports, by name. */
const NEEDS = ['contract', 'grpc', 'outbox', 'postgres', 'process'];

/** Adds the service. Throws Refusal. Returns what is left to do. */
export function addService(changes, _root, name) {
  // Its schema, role, proto package and variable are called so, and none of them takes a dash.
  if (!/^[a-z][a-z0-9]*$/.test(name)) throw new Refusal(`${name} is no name of a service: write small letters and digits only.`);
  if (changes.exists(`services/${name}`)) throw new Refusal(`services/${name} is there already: choose another name.`);
  addPackage(changes, name);
  addToLists(changes, name);
  addToDeployment(changes, name);
  return [
    `Write its first operation in proto/truckroll/${name}/v1/: npm test -- services/${name}/test/operations.test.ts fails until then.`,
    'Run npm run generate && npm run openapi && npm run observability && npm run check:chart -- --write, and look at what these write.',
    'Go on in CONTRIBUTING.md, "Add a service".',
  ];
}

function addPackage(changes, name) {
  const at = `services/${name}`;
  const create = `create${pascal(name)}`;
  changes.create(
    `${at}/package.json`,
    `{
  "name": "@truckroll/${name}",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "exports": { "./restored": "./src/restored.ts", "./schema": "./src/schema.ts" },
  "dependencies": {${NEEDS.map((need) => `"@truckroll/${need}": "workspace:*"`).join(', ')}}
}
`,
  );
  changes.create(
    `${at}/src/main.ts`,
    `import { growHeapInLargerSteps, runService } from '@truckroll/process';
import { ${name}Config } from './config.ts';
import { ${create} } from './${name}.ts';

growHeapInLargerSteps();
await runService('${name}', () => ${create}(${name}Config(process.env)));
`,
  );
  changes.create(
    `${at}/src/config.ts`,
    `import { callerSettings, grpcSettings } from '@truckroll/grpc';
import { databaseSettings } from '@truckroll/postgres';
import { baseSettings, readConfig, type Config } from '@truckroll/process';

export const settings = {
  ...baseSettings(${nextPort(changes)}),
  ...grpcSettings,
  ...callerSettings,
  ...databaseSettings,
};

export type ${pascal(name)}Config = Config<typeof settings>;

/** Throws ConfigError that names everything missing or invalid. */
export function ${name}Config(environment: Readonly<Record<string, string | undefined>>): ${pascal(name)}Config {
  return readConfig(settings, environment);
}
`,
  );
  changes.create(
    `${at}/src/${name}.ts`,
    `import { createService } from '@truckroll/grpc';
import { databaseUrls, openDatabase } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import type { ${pascal(name)}Config } from './config.ts';
import { schema } from './schema.ts';

export function ${create}(config: ${pascal(name)}Config): Service {
  return createService({
    name: schema.schema,
    config,
    create(kit) {
      openDatabase(kit, { ...databaseUrls(config), ...schema });
    },
  });
}
`,
  );
  changes.create(
    `${at}/src/schema.ts`,
    `import { outboxTables } from '@truckroll/outbox';
import { migrationsIn } from '@truckroll/postgres';

/** What ${name} keeps in PostgreSQL. */
export const schema = { schema: '${name}', migrations: [outboxTables, migrationsIn('${name}', new URL('../migrations/', import.meta.url))] };
`,
  );
  changes.create(
    `${at}/src/restored.ts`,
    `import type { Restored } from '@truckroll/outbox';
import { schema } from './schema.ts';

export const restored: Restored = {
  schema: schema.schema,
  states: [],
  readModels: [],
  groups: [],
  async renew() {
    // It publishes nothing.
  },
};
`,
  );
  changes.create(`${at}/migrations/0001_${name}.sql`, `-- What ${name} keeps.\ncomment on schema ${name} is 'Owned by the service ${name}.';\n`);
  changes.create(
    `${at}/test/operations.test.ts`,
    `import { operations } from '@truckroll/contract';

test('${name} serves an operation of the public API', () => {
  if (!operations.some(({ owner }) => owner === '${name}')) throw new Error('Next: write the first operation of ${name} in proto/truckroll/${name}/v1/.');
});
`,
  );
}

/** One above those of the services that there are. */
function nextPort(changes) {
  return 1 + Math.max(...[...changes.read('packages/contract/src/components.ts').matchAll(/port: (5\d{4})/g)].map(([, port]) => Number(port)));
}

function addToLists(changes, name) {
  const components = 'packages/contract/src/components.ts';
  const port = nextPort(changes);
  changes.insertBefore(
    components,
    "  { name: 'webhook-dispatcher'",
    `  { name: '${name}', port: ${port}, postgresql: true, secretKeys: ['CALLER_CREDENTIALS'] },\n`,
  );
  changes.replace(components, "'reporting', 'integrations']", `'reporting', 'integrations', '${name}']`);
  const options = 'proto/truckroll/options/v1/options.proto';
  const callers = [...changes.read(options).matchAll(/^ {2}CALLER_\w+ = (\d+);\n/gm)];
  const [last, number] = callers.at(-1);
  changes.insertAfter(options, last, `  // Owns what ${name} keeps.\n  CALLER_${screaming(name)} = ${Number(number) + 1};\n`);
  const tests = 'test/support/components.ts';
  const schemaImport = `import { schema as ${LIKE} } from '../../services/${LIKE}/src/schema.ts';\n`;
  const create = `create${pascal(name)}`;
  changes.insertAfter(
    tests,
    schemaImport,
    `import { ${name}Config } from '../../services/${name}/src/config.ts';
import { ${create} } from '../../services/${name}/src/${name}.ts';
import { schema as ${name} } from '../../services/${name}/src/schema.ts';
`,
  );
  changes.insertAfter(tests, `  ${LIKE}: ${LIKE}Config,\n`, `  ${name}: ${name}Config,\n`);
  changes.insertAfter(tests, `  ${LIKE}: create${pascal(LIKE)},\n`, `  ${name}: ${create},\n`);
  changes.replace(tests, 'billing, reporting }', `billing, reporting, ${name} }`);
  changes.insertBefore('tools/cli/package.json', '"@truckroll/scheduling": ', `"@truckroll/${name}": "workspace:*", `);
  const load = `    ${LIKE}: () => import('@truckroll/${LIKE}/schema'),\n`;
  changes.insertAfter('tools/cli/src/commands/migrate.ts', load, load.replaceAll(LIKE, name));
  const renew = 'tools/cli/src/restored/renew.ts';
  changes.insertBefore(renew, 'import { lastKnown, restored as reporting', `import { restored as ${name} } from '@truckroll/${name}/restored';\n`);
  changes.replace(renew, 'billing, reporting };', `billing, reporting, ${name} };`);
  changes.insertBefore('test/migrations/locks.test.ts', "  scheduling: '", `  ${name}: '',\n`);
  addToLock(changes, name);
}

function addToLock(changes, name) {
  const lock = 'pnpm-lock.yaml';
  const link = (to, folder) => `      '@truckroll/${to}':\n        specifier: workspace:*\n        version: link:../../${folder}\n`;
  const needs = NEEDS.map((need) => link(need, `packages/${need}`)).join('');
  changes.insertBefore(lock, '  services/scheduling:\n', `  services/${name}:\n    dependencies:\n${needs}\n`);
  const scheduling = link('scheduling', 'services/scheduling');
  changes.edit(lock, (text) => {
    const cli = text.indexOf('  tools/cli:\n');
    const at = text.indexOf(scheduling, cli);
    return `${text.slice(0, at)}${link(name, `services/${name}`)}${text.slice(at)}`;
  });
}

function addToDeployment(changes, name) {
  const port = nextPort(changes) - 1;
  const compose = 'deploy/compose.yaml';
  const address = '  INTEGRATIONS_ADDRESS: integrations:50054\n';
  changes.insertAfter(compose, address, `  ${screaming(name)}_ADDRESS: ${name}:${port}\n`);
  changes.insertBefore(
    compose,
    '  integrations:\n    <<: *component\n',
    `  ${name}:
    <<: *component
    image: truckroll/${name}:\${TAG:-dev}
    environment:
      DATABASE_URL: postgres://truckroll:\${POSTGRES_PASSWORD:?run deploy/compose-secrets}@postgres:5432/truckroll
      CALLER_CREDENTIALS: \${CALLER_CREDENTIALS:?run deploy/compose-secrets}
      MIGRATE_AT_START: "false"
    depends_on: *needs
`,
  );
  const chart = 'deploy/helm/truckroll';
  const values = `${chart}/values.yaml`;
  // The secrets of its database and of its certificate.
  const added = [`    # -- Owner of schema ${name}.\n`, `    # -- Certificate of ${name}, with the name \`<release>-${name}.<namespace>.svc\`.\n`];
  const last = `    integrations: ""\n`;
  changes.edit(values, (text) => {
    if (text.split(`\n${last}`).length !== 1 + added.length) throw new Refusal(`${values} does not have this twice, change it by hand: ${last}`);
    return text.replaceAll(`\n${last}`, (line) => `${line}${added.shift()}    ${name}: ""\n`);
  });
  const database = '  integrations: {}\n';
  changes.edit(values, (text) => text.replace(`\n${database}`, (line) => `${line}  # -- The same for ${name}.\n  ${name}: {}\n`));
  changes.edit(values, (text) => text.replace(new RegExp(`^${LIKE}:\\n(?:.+\\n)+\\n`, 'm'), (section) => `${section}${section.replace(LIKE, name)}`));
  const schema = `${chart}/values.schema.json`;
  changes.edit(schema, (text) =>
    text
      .replace(/^ {8}"integrations": \{"\$ref": "#\/\$defs\/postgresql"\},\n/m, (line) => `${line}        "${name}": {"$ref": "#/$defs/postgresql"},\n`)
      .replace('            "migrate": {', (line) => `            "${name}": {"$ref": "#/$defs/name"},\n${line}`)
      .replace(/^ {12}"dispatcher": \{"\$ref"/m, (line) => `            "${name}": {"$ref": "#/$defs/name"},\n${line}`)
      .replace(new RegExp(`^ {4}"${LIKE}": \\{\\n[^]*?^ {4}\\},\\n`, 'm'), (section) => `${section}${section.replace(LIKE, name)}`)
      .replace('"INTEGRATIONS_ADDRESS", ', (text_) => `${text_}"${screaming(name)}_ADDRESS", `),
  );
  for (const profile of ['evaluation', 'minimal', 'production']) {
    changes.edit(`${chart}/ci/${profile}-values.yaml`, (text) =>
      text
        .replace('reporting: db-reporting', (pair) => `${pair}, ${name}: db-${name}`)
        .replace('reporting: tls-reporting', (pair) => `${pair}, ${name}: tls-${name}`)
        .replace(/^reporting: \{.*\n/m, (line) => `${line}${line.replaceAll('reporting', name)}`),
    );
  }
  changes.edit('docs/how-to/install.md', (text) =>
    text
      .replace("create role reporting login password '…';\n", (line) => `${line}${line.replace('reporting', name)}`)
      .replace('create schema reporting authorization reporting;\n', (line) => `${line}${line.replaceAll('reporting', name)}`)
      .replaceAll('grant scheduling, billing, reporting, integrations to', `grant scheduling, billing, reporting, integrations, ${name} to`),
  );
  changes.edit('docs/how-to/managed-servers.md', (text) =>
    text.replace("array['scheduling', 'billing', 'reporting', 'integrations']", `array['scheduling', 'billing', 'reporting', 'integrations', '${name}']`),
  );
}
