// The logs of a test file's services, printed when one of its tests has failed.
import { logTo } from '../../packages/telemetry/src/log.ts';

const MOST_LINES = 200;
const lines: string[] = [];

logTo({
  write(line) {
    lines.push(line);
    if (lines.length > MOST_LINES) lines.shift();
  },
});

// Under Jest's own runner, as for mutants.
globalThis.jest ??= import.meta.jest;

interface Block {
  children: (Block & { type: string; errors: unknown[] })[];
}

/** jest-circus keeps its state under a symbol of this name. */
const state = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL');

function failed({ children }: Block): boolean {
  return children.some((child) => (child.type === 'test' ? child.errors.length > 0 : failed(child)));
}

// Registered outside the test file, so it runs before the file's own hook stops the services.
afterAll(() => {
  const root = state && (globalThis as unknown as Record<symbol, { rootDescribeBlock: Block } | undefined>)[state]?.rootDescribeBlock;
  if (root === undefined || lines.length === 0 || !failed(root)) return;
  process.stderr.write(`\nThe last ${lines.length} lines that the services of ${expect.getState().testPath} logged:\n${lines.join('')}\n`);
});
