/** Tests run as the code does: ES modules, TypeScript stripped rather than compiled, real servers behind them. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{packages,services,tools}/*/{src,test}/**/*.test.ts', '<rootDir>/gateway/{src,test}/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } }],
  },
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/logs.ts'],
  // Real servers on a machine that may be busy: a limit for what hangs, not for what is slow.
  testTimeout: 60_000,
  // Much of what tests do is to wait: two workers use 1.6 of two processors. A worker keeps what every file has loaded: it is started anew before
  // that fills its memory. With this limit
  // Jest always runs tests in workers, so a run ends even if a failed test leaves something open. To find what does: --runInBand.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  modulePathIgnorePatterns: ['<rootDir>/.truckroll'],
};
