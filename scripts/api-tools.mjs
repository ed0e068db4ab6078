// The tool that compares OpenAPI descriptions, at the version in gateway/tools/go.mod.
import { join } from 'node:path';
import { goTools } from './go-tools.mjs';

/** The folder of oasdiff. Throws an error that says what to do. */
export function apiTools() {
  return goTools({ module: join(import.meta.dirname, '../gateway/tools'), name: 'truckroll-api-tools', purpose: 'The description is compared' });
}
