/** Tests run as the code does: by Node, which strips types, and with real servers behind them. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{packages,services,tools}/*/{src,test}/**/*.test.ts', '<rootDir>/gateway/{src,test}/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  transform: {},
  testRunner: '<rootDir>/scripts/test-runner.mjs',
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/logs.ts'],
  // Real servers on a machine that may be busy: a limit for what hangs, not for what is slow.
  testTimeout: 60_000,
  // Much of what tests do is to wait: two workers use 1.6 of two processors. With a memory limit, Jest always runs tests in workers, so a run ends
  // even if a failed test leaves something open. To find what does: --runInBand.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  modulePathIgnorePatterns: ['<rootDir>/.truckroll'],
};
