// Style is left to the compiler and reviewers. Lint checks that promises are handled and dependencies point one way.
import { type OxlintOverride, defineConfig } from 'oxlint';

/** Packages that every service is built from, lowest first. */
const FOUNDATION = ['contract', 'telemetry', 'process', 'postgres', 'grpc'];

/**
 * Allowed imports between packages: contract ← telemetry ← process ← postgres, grpc ← catch-up ← outbox ← record-store ← services. The gateway has no
 * database and no outbox. No other package imports a service, with two exceptions: the command line imports their schemas, to migrate them, and their steps
 * after a restore; the benchmarks import what they measure. Tools that people run around the system are in tools/, which no service, no
 * gateway and no package imports. Tests may import tools/testing and every package they combine.
 */
const DIRECTION: Record<string, string[]> = {
  'packages/contract': [],
  'packages/telemetry': ['contract'],
  'packages/process': ['contract', 'telemetry'],
  'packages/postgres': ['contract', 'telemetry', 'process'],
  'packages/grpc': ['contract', 'telemetry', 'process'],
  'packages/mail': ['telemetry', 'process', 'postgres'],
  'packages/redis': ['telemetry', 'process'],
  'packages/webhook-targets': ['process'],
  'packages/outbox': [...FOUNDATION],
  'packages/record-store': [...FOUNDATION, 'catch-up', 'change-feed', 'outbox'],
  'packages/catch-up': [...FOUNDATION],
  'packages/erasure': [...FOUNDATION, 'catch-up', 'change-feed', 'outbox'],
  'packages/change-feed': [...FOUNDATION, 'catch-up'],
  'packages/client': [],
  'packages/cli': ['client', 'contract/formula'],
  'tools/demo-company': ['contract'],
  'tools/local-stack': ['contract/components', 'contract/gen', 'process/addresses', 'grpc'],
  'tools/cli': [...FOUNDATION, 'change-feed', 'erasure', 'outbox', 'client', 'integrator-cli', 'demo-company', 'local-stack', '*/restored', '*/schema'],
  gateway: ['contract', 'telemetry', 'process', 'grpc', 'redis'],
  'gateway/console': ['client', 'contract/formula'],
  services: [...FOUNDATION, 'catch-up', 'change-feed', 'erasure', 'outbox', 'mail', 'record-store', 'redis', 'webhook-targets'],
  loadtest: [...FOUNDATION, 'outbox', 'demo-company', 'local-stack', 'cli', 'reporting/reports', 'reporting/schema', 'integrations/filter'],
};

/** Each third-party client is imported in few places, so that it can be replaced there. */
const CLIENTS: Record<string, string[]> = {
  pg: ['packages/postgres', 'tools/local-stack', 'loadtest'],
  kafkajs: ['packages/outbox', 'tools/local-stack'],
  express: ['gateway', 'loadtest'],
  'prom-client': ['packages/telemetry'],
  pino: ['packages/telemetry'],
  '@opentelemetry/semantic-conventions': ['packages/telemetry'],
  jose: ['gateway', 'tools/local-stack'],
  nodemailer: ['packages/mail'],
  oauth4webapi: ['gateway/console', 'packages/cli'],
  'oidc-provider': ['tools/local-stack'],
  '@redis/client': ['packages/redis', 'loadtest'],
};
const TESTS = ['**/test/**', '**/*.test.ts', 'tools/testing/**'];

const restricted: OxlintOverride[] = Object.entries(DIRECTION).map(([place, allowed]) => ({
  files: [`${place}/**/*.ts`, `${place}/**/*.tsx`],
  excludeFiles: TESTS,
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: Object.entries(CLIENTS)
          .filter(([, places]) => !places.includes(place))
          .map(([name, places]) => ({ name, message: `Only ${places.join(', ')} may import it: use what they offer.` })),
        patterns: [
          {
            group: ['@truckroll/**', ...allowed.flatMap((name) => [`!@truckroll/${name}`, `!@truckroll/${name}/**`])],
            message: `${place} may import ${allowed.map((name) => `@truckroll/${name}`).join(', ') || 'no other package'}.`,
          },
        ],
      },
    ],
  },
}));

export default defineConfig({
  ignorePatterns: ['**/node_modules/**', '**/gen/**', '.truckroll/**', 'coverage/**', 'test/generators/programs/**'],
  plugins: ['typescript'],
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  // This category has most rules. Those listed below are in other categories, need options, or are off.
  categories: { correctness: 'error' },
  rules: {
    'no-case-declarations': 'error',
    'no-empty': ['error', { allowEmptyCatch: true }],
    'no-fallthrough': 'error',
    'no-prototype-builtins': 'error',
    'no-regex-spaces': 'error',
    'no-unexpected-multiline': 'error',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
    'no-useless-assignment': 'error',
    'preserve-caught-error': 'error',
    'typescript/no-meaningless-void-operator': 'off',
    'typescript/no-misused-spread': 'off',
    'typescript/require-array-sort-compare': 'off',
    'typescript/unbound-method': 'off',
  },
  overrides: [
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        'max-lines': ['error', { max: 400 }],
        'no-array-constructor': 'error',
        'no-control-regex': 'off',
        'no-var': 'error',
        'prefer-const': 'error',
        'prefer-rest-params': 'error',
        'prefer-spread': 'error',
        'typescript/ban-ts-comment': 'error',
        'typescript/consistent-type-imports': 'error',
        'typescript/no-empty-object-type': 'error',
        'typescript/no-misused-promises': 'error',
        'typescript/no-namespace': 'error',
        'typescript/no-require-imports': 'error',
        'typescript/no-unnecessary-type-assertion': 'error',
        'typescript/no-unnecessary-type-constraint': 'error',
        'typescript/no-unsafe-enum-comparison': 'error',
        'typescript/no-unsafe-function-type': 'error',
        'typescript/only-throw-error': 'error',
        'typescript/restrict-plus-operands': 'error',
      },
    },
    {
      // Tests read answers and rows as they come, without a type: a wrong one fails the test.
      files: ['**/*.ts', '**/*.tsx'],
      excludeFiles: TESTS,
      rules: {
        'typescript/no-explicit-any': 'error',
        'typescript/no-unsafe-argument': 'error',
        'typescript/no-unsafe-assignment': 'error',
        'typescript/no-unsafe-call': 'error',
        'typescript/no-unsafe-member-access': 'error',
        'typescript/no-unsafe-return': 'error',
      },
    },
    ...restricted,
    {
      files: ['**/*.ts'],
      rules: {
        'no-restricted-globals': ['error', { name: 'it', message: 'Write test.' }],
      },
    },
    {
      // The compiler, which checks names in TypeScript, does not read these.
      files: ['**/*.mjs'],
      rules: { 'no-redeclare': 'error', 'no-undef': 'error', 'typescript/restrict-template-expressions': 'off' },
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        setInterval: 'readonly',
        clearTimeout: 'readonly',
        performance: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
      },
    },
  ],
});
