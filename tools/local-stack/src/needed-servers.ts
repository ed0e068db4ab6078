// Finds the servers that test files need: those whose environment variable appears in a module they import.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { ServerName } from './servers/server.ts';

const VARIABLES: Readonly<Record<ServerName, string>> = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' };

/** Follows only imports of this repository. */
const ownModules: Plugin = {
  name: 'own modules',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith('@truckroll/') ? undefined : { path, external: true }));
  },
};

/** `files` are absolute paths. Rejects when one of their modules cannot be parsed. */
export async function neededServers(root: string, files: readonly string[]): Promise<Set<ServerName>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...files],
    bundle: true,
    write: false,
    metafile: true,
    outdir: root,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    plugins: [ownModules],
  });
  const needed = new Set<ServerName>();
  for (const module of Object.keys(metafile.inputs)) {
    const text = readFileSync(join(root, module), 'utf8');
    if (!text.includes('process.env')) continue;
    for (const [name, variable] of Object.entries(VARIABLES)) if (text.includes(`'${variable}'`)) needed.add(name as ServerName);
  }
  return needed;
}
