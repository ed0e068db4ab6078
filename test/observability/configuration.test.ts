import { env } from '@truckroll/process';
import { withVariables } from './configuration-page.ts';

const page = '<!-- variables: written by `npm run observability` -->\nold\n<!-- /variables -->';
const meanings = new Map([
  ['WAIT', 'Time limit.'],
  ['PASSWORD', 'Password of the server.'],
]);

test('lists variables by the components that have them, with defaults that differ', () => {
  const settings = new Map([
    ['billing', { wait: env.duration('WAIT', 90_000) }],
    ['gateway', { wait: env.duration('WAIT', 3_600_000), password: env.secret('PASSWORD') }],
  ]);
  const text = withVariables(page, settings, meanings);
  expect(text).toContain('### Every component\n\n| Variable | Default | Meaning |\n|---|---|---|\n| `WAIT` | billing `90s`; gateway `1h` | Time limit. |\n');
  expect(text).toContain('### Gateway\n\n| Variable | Default | Meaning |\n|---|---|---|\n| `PASSWORD` † | required | Password of the server. |\n');
  expect(text).not.toContain('old');
});

test('refuses a variable without a comment', () => {
  expect(() => withVariables(page, new Map([['gateway', { port: env.port('PORT') }]]), meanings)).toThrow('PORT has no comment above its setting');
});
