import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';

const files = globSync('{packages,services}/*/src/driver/**/*.ts', { cwd: ROOT });

function head(file: string): string {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines.slice(0, end).join('\n');
}

test.each(files)('%s says which fault of a library it repairs, its upstream issue, and what ends it', (file) => {
  expect(head(file)).toMatch(/^\/\/ Fault: \S/m);
  expect(head(file)).toMatch(/^\/\/ Upstream: .*([\w.-]+\/[\w.-]+#\d+|no upstream issue known)/m);
  expect(head(file)).toMatch(/^\/\/ Ends: \S/m);
});
