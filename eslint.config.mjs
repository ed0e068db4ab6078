// Style is left to the compiler and reviewers. Lint checks that promises are handled and dependencies point one way.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Packages that every service is built from, lowest first. */
const FOUNDATION = ['contract', 'telemetry', 'process', 'postgres', 'grpc'];

/**
 * Allowed imports between packages: contract ← telemetry ← process ← postgres, grpc ← outbox ← record-store ← services. The gateway has no
 * database and no outbox. No other package imports a service, with two exceptions: the command line imports their schemas, to migrate them, and their steps
 * after a restore; the benchmarks import what they measure. Tools that people run around the system are in tools/, which no service, no
 * gateway and no package imports. Tests may import tools/testing and every package they combine.
 */
const DIRECTION = {
  'packages/contract': [],
  'packages/telemetry': ['contract'],
  'packages/process': ['contract', 'telemetry'],
  'packages/postgres': ['contract', 'telemetry', 'process'],
  'packages/grpc': ['contract', 'telemetry', 'process'],
  'packages/mail': ['telemetry', 'process', 'postgres'],
  'packages/redis': ['telemetry', 'process'],
  'packages/webhook-targets': ['process'],
  'packages/outbox': [...FOUNDATION],
  'packages/record-store': [...FOUNDATION, 'change-feed', 'outbox'],
  'packages/change-feed': [...FOUNDATION],
  'packages/client': [],
  'tools/demo-company': ['contract'],
  'tools/local-stack': ['contract/components', 'process/addresses'],
  'tools/cli': [...FOUNDATION, 'outbox', 'client', 'demo-company', 'local-stack', '[a-z]+/(restored|schema)'],
  gateway: ['contract', 'telemetry', 'process', 'grpc', 'redis'],
  'gateway/console': ['client'],
  services: [...FOUNDATION, 'change-feed', 'outbox', 'mail', 'record-store', 'redis', 'webhook-targets'],
  loadtest: [...FOUNDATION, 'outbox', 'demo-company', 'local-stack', 'cli', 'reporting/(reports|schema)', 'integrations/filter'],
};

/** Each third-party client is imported in few places, so that it can be replaced there. */
const CLIENTS = {
  pg: ['packages/postgres', 'tools/local-stack', 'loadtest'],
  kafkajs: ['packages/outbox', 'tools/local-stack'],
  express: ['gateway', 'loadtest'],
  'prom-client': ['packages/telemetry'],
  pino: ['packages/telemetry'],
  '@opentelemetry/semantic-conventions': ['packages/telemetry'],
  jose: ['gateway', 'tools/local-stack'],
  nodemailer: ['packages/mail'],
  oauth4webapi: ['gateway/console'],
  'oidc-provider': ['tools/local-stack'],
  '@redis/client': ['packages/redis', 'loadtest'],
};
const TESTS = ['**/test/**', '**/*.test.ts', 'tools/testing/**'];

const restricted = Object.entries(DIRECTION).map(([place, allowed]) => ({
  files: [`${place}/**/*.ts`, `${place}/**/*.tsx`],
  ignores: TESTS,
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: Object.entries(CLIENTS)
          .filter(([, places]) => !places.includes(place))
          .map(([name, places]) => ({ name, message: `Only ${places.join(', ')} may import it: use what they offer.` })),
        patterns: [
          {
            regex: `^@truckroll/(?!(${allowed.join('|') || '-'})(/|$))`,
            message: `${place} may import ${allowed.map((name) => `@truckroll/${name}`).join(', ') || 'no other package'}.`,
          },
        ],
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['**/node_modules/**', '**/gen/**', '.truckroll/**', 'coverage/**', 'test/generators/programs/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'no-empty': ['error', { allowEmptyCatch: true }],
      'no-control-regex': 'off',
      'max-lines': ['error', { max: 400 }],
    },
  },
  {
    // Tests read answers and rows as they come, without a type: a wrong one fails the test.
    files: TESTS,
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  ...restricted,
  {
    files: ['**/*.mjs'],
    languageOptions: {
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
  },
);
