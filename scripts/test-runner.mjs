// Runs test files as the code runs: by Node. A worker loads a module once, for all its files: what a test changes in one, it changes back. The
// environment and the functions below are put back after each file. With Jest's own loader, each file compiles all modules anew, in a context where every access to a global is slow: half the processor time of a run.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const require = createRequire(import.meta.url);
const nothing = () => undefined;
/** What tests replace. */
const GLOBALS = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'fetch'];
const imports = new Map();

/** Jest calls this in a worker for each file: its option `testRunner`. */
export default async function runFile(globalConfig, config, _environment, _runtime, testPath, send) {
  const mocks = new ModuleMocker(globalThis);
  const timers = new ModernFakeTimers({ global: globalThis, config });
  globalThis.jest = {
    ...bound(mocks, 'spyOn', 'restoreAllMocks'),
    // These two are those of the whole process: streams and sockets would lose what they have queued.
    useFakeTimers: ({ doNotFake = [], ...options } = {}) => timers.useFakeTimers({ ...options, doNotFake: [...doNotFake, 'nextTick', 'queueMicrotask'] }),
    ...bound(timers, 'useRealTimers', 'advanceTimersByTime', 'advanceTimersByTimeAsync', 'getTimerCount', 'setSystemTime'),
  };
  const [environment, globals] = [{ ...process.env }, GLOBALS.map((name) => globalThis[name])];
  const runtime = {
    requireInternalModule: require,
    requireModule: require,
    setGlobalsForRuntime: nothing,
    enterTestCode: nothing,
    leaveTestCode: nothing,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: importAnew,
  };
  try {
    return await newCircus().default(globalConfig, config, { global: globalThis }, runtime, testPath, send);
  } finally {
    timers.useRealTimers();
    mocks.restoreAllMocks();
    for (const [index, name] of GLOBALS.entries()) globalThis[name] = globals[index];
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
  }
}

function bound(object, ...names) {
  return Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
}

/** The test file, or a setup file, which every test file loads. */
function importAnew(path) {
  const times = imports.get(path) ?? 0;
  imports.set(path, times + 1);
  return import(`${pathToFileURL(path)}${times === 0 ? '' : `?${times}`}`);
}

/** jest-circus without the state of the last file, which it keeps in its modules and as global symbols. */
function newCircus() {
  for (const path of Object.keys(require.cache)) if (path.includes('/node_modules/jest-circus/')) delete require.cache[path];
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (['JEST_STATE_SYMBOL', 'EVENT_HANDLERS'].includes(symbol.description)) delete globalThis[symbol];
  }
  return require('jest-circus/runner');
}
