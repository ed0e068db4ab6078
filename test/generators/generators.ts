// Each generator has its own folder below .truckroll/generators, and a program (programs/) that uses what it generates.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, STATE } from '@truckroll/local-stack';
import { pythonPrograms, run } from '../support/installed.ts';
import { goProgram, jar, npmPackages } from './tools.ts';

const DESCRIPTION = join(ROOT, 'gateway/openapi.json');
const COMPILER = { typescript: '5.9.3', '@types/node': '24.19.2' };
const OPTIONS = [
  '--strict',
  '--target',
  'es2023',
  '--lib',
  'es2023,dom,dom.iterable',
  '--module',
  'nodenext',
  '--types',
  'node',
  '--outDir',
  'built',
  'main.ts',
];

export interface Generator {
  readonly name: string;
  /** Installs what is missing, generates the client, and compiles it with the program. Returns the command that runs it. Throws Problem. */
  prepare(folder: string): readonly [string, ...string[]];
}

const program = (name: string, target: string): void => copyFileSync(join(import.meta.dirname, 'programs', name), target);

const openapiTypescript: Generator = {
  name: 'openapi-typescript 7.13.0',
  prepare(folder) {
    npmPackages(folder, { 'openapi-typescript': '7.13.0', 'openapi-fetch': '0.17.0', ...COMPILER });
    run(folder, 'node_modules/.bin/openapi-typescript', DESCRIPTION, '-o', 'api.ts');
    program('openapi-typescript.ts', join(folder, 'main.ts'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    run(folder, 'node_modules/.bin/tsc', ...OPTIONS);
    return [process.execPath, 'built/main.js'];
  },
};

const heyApi: Generator = {
  name: '@hey-api/openapi-ts 0.99.0',
  prepare(folder) {
    npmPackages(folder, { '@hey-api/openapi-ts': '0.99.0', ...COMPILER });
    const config = {
      input: DESCRIPTION,
      output: { path: 'sdk', module: { extension: '.js' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    };
    writeFileSync(join(folder, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(config)};\n`);
    run(folder, 'node_modules/.bin/openapi-ts');
    program('hey-api.ts', join(folder, 'main.ts'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    run(folder, 'node_modules/.bin/tsc', ...OPTIONS);
    return [process.execPath, 'built/main.js'];
  },
};

const python: Generator = {
  name: 'openapi-python-client 0.29.1',
  prepare(folder) {
    const bin = pythonPrograms('openapi-python-client==0.29.1', 'mypy==1.19.1');
    const generate = ['generate', '--path', DESCRIPTION, '--meta', 'none', '--output-path', 'truckroll', '--overwrite', '--fail-on-warning'];
    run(folder, 'env', `PATH=${bin}:${process.env['PATH']}`, join(bin, 'openapi-python-client'), ...generate);
    program('openapi-python-client.py', join(folder, 'main.py'));
    // Skips the generator's common code, which is the same for every description and in which mypy finds errors.
    run(folder, join(bin, 'mypy'), '--follow-imports=silent', 'main.py', 'truckroll/api', 'truckroll/models');
    return [join(bin, 'python'), 'main.py'];
  },
};

const java: Generator = {
  name: 'openapi-generator 7.24.0 for Java',
  prepare(folder) {
    const generator = jar('org.openapitools', 'openapi-generator-cli', '7.24.0');
    const names = 'groupId=example,artifactId=client,invokerPackage=example,apiPackage=example.api,modelPackage=example.model';
    const properties = `library=native,useSingleRequestParameter=true,hideGenerationTimestamp=true,${names}`;
    run(folder, 'java', '-jar', generator, 'generate', '-g', 'java', '-i', DESCRIPTION, '-o', 'client', '--additional-properties', properties);
    program('Main.java', join(folder, 'client/src/main/java/Main.java'));
    run(join(folder, 'client'), 'mvn', '-q', '-B', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath');
    const libraries = readFileSync(join(folder, 'client/classpath'), 'utf8').trim();
    return ['java', '-cp', `client/target/classes:${libraries}`, 'Main'];
  },
};

const typescriptFetch: Generator = {
  name: 'openapi-generator 7.24.0 for TypeScript',
  prepare(folder) {
    npmPackages(folder, COMPILER);
    const generator = jar('org.openapitools', 'openapi-generator-cli', '7.24.0');
    // By default it generates an API to call for webhooks, with nameless imports. The models of their bodies are generated with the others.
    const parts = 'models,apis,supportingFiles';
    run(
      folder,
      'java',
      '-jar',
      generator,
      'generate',
      '-g',
      'typescript-fetch',
      '-i',
      DESCRIPTION,
      '-o',
      'client',
      '--global-property',
      parts,
      '--additional-properties',
      'importFileExtension=.js',
    );
    program('typescript-fetch.ts', join(folder, 'main.ts'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    run(folder, 'node_modules/.bin/tsc', ...OPTIONS);
    return [process.execPath, 'built/main.js'];
  },
};

const go: Generator = {
  name: 'oapi-codegen 2.8.2',
  prepare(folder) {
    const generator = goProgram('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', 'v2.8.2');
    mkdirSync(join(folder, 'truckroll'));
    writeFileSync(
      join(folder, 'go.mod'),
      'module example\n\ngo 1.26\n\nrequire (\n\tgithub.com/google/uuid v1.6.0\n\tgithub.com/oapi-codegen/runtime v1.8.0\n)\n',
    );
    // By default, schemas that no operation refers to, such as those of events, are left out.
    writeFileSync(
      join(folder, 'config.yaml'),
      'package: truckroll\noutput: truckroll/client.gen.go\ngenerate:\n  client: true\n  models: true\noutput-options:\n  skip-prune: true\n',
    );
    run(folder, generator, '-config', 'config.yaml', DESCRIPTION);
    program('main.go', join(folder, 'main.go'));
    run(folder, 'go', 'vet', './...');
    run(folder, 'go', 'build', '-o', 'main', '.');
    return ['./main'];
  },
};

export const generators: readonly Generator[] = [openapiTypescript, heyApi, python, java, typescriptFetch, go];

/** The generator's folder, emptied, because output of an earlier run could hide what is missing now. */
export function emptyFolder({ name }: Generator): string {
  const folder = join(STATE, 'generators', name.replace(/[^\w.]+/g, '-').replace(/^-/, ''));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
