import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { KeyAdminServiceService, type CreateKeyResponse, type KeyAccount, type RotateKeyResponse } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Command } from 'commander';
import { expiry } from '../arguments.ts';
import { limits } from '../limits.ts';
import { plain } from '../plain.ts';
import type { Session } from '../session.ts';
import { card, table } from '@truckroll/integrator-cli/terminal/table';

interface NewKey {
  company: string;
  user: string;
  name: string;
  expires?: number | null;
  readsPerMinute?: number;
  reportsPerMinute?: number;
  writesPerMinute?: number;
}

const CREATE_EXAMPLES = `
The value is shown once and not stored: give it to the integrator over a trusted channel.

Examples:
  truckroll key create --company 7d1c… --user 90af… --name "Bookkeeping export" --expires 365d
  truckroll key create --company 7d1c… --user 90af… --name "Load test" --reads-per-minute 10000000`;

export function register(program: Command, session: Session): void {
  const key = program.command('key').description('API keys: each gives access to one company and belongs to one of its users.');
  const service = () => session.client('integrations', KeyAdminServiceService);

  key
    .command('create')
    .description('Issue an API key.')
    .requiredOption('--company <id>', 'id of the company that it gives access to')
    .requiredOption('--user <id>', 'id of the user that it belongs to')
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <when>', 'when it expires: a date-time, a date, or a duration such as 90d', expiry)
    .option('--reads-per-minute <number>', 'reads per minute; default: 6000, or the gateway’s setting', positiveInteger)
    .option('--reports-per-minute <number>', 'reports per minute; default: 600, or the gateway’s setting', positiveInteger)
    .option('--writes-per-minute <number>', 'writes per minute; default: 1200, or the gateway’s setting', positiveInteger)
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (given: NewKey) => {
      const answer = await service().createKey({
        company_id: given.company,
        user_id: given.user,
        name: given.name,
        expires_at: given.expires ?? null,
        limits: {
          reads_per_minute: given.readsPerMinute ?? null,
          reports_per_minute: given.reportsPerMinute ?? null,
          writes_per_minute: given.writesPerMinute ?? null,
        },
      });
      showNew(session, answer);
    });

  key
    .command('rotate')
    .description('Give a key a new value. The old one gets 401 within a second on every gateway; name, expiry and limits stay.')
    .argument('<id>', 'id of the key')
    .addHelpText('after', '\nTo switch without downtime, create a second key instead, and revoke the first when it is no longer used.')
    .action(async (id: string) => showNew(session, await service().rotateKey({ id })));

  key
    .command('list')
    .description('List the keys of a company, oldest first, including expired keys and keys revoked in the last 30 days.')
    .requiredOption('--company <id>', 'id of the company')
    .action(async ({ company }: { company: string }) => {
      const rows = (await service().listKeys({ company_id: company })).keys.map(asPlain);
      const columns = {
        ID: (row: Row) => row['id'],
        NAME: (row: Row) => row['name'],
        KEY: ends,
        STATE: state,
        'LAST USED': (row: Row) => row['last_used_at'] ?? 'never',
        EXPIRES: (row: Row) => row['expires_at'] ?? 'never',
        LIMITS: limits,
        CREATED: (row: Row) => row['created_at'],
      };
      session.print(rows, table(rows, columns, 'The company has no key yet: issue one with `truckroll key create`.'));
    });

  key
    .command('revoke')
    .description('Revoke a key. It gets 401 within a second on every gateway.')
    .argument('<id>', 'id of the key')
    .action(async (id: string) => {
      const fields = asPlain((await service().revokeKey({ id })).key as KeyAccount);
      session.print(fields, card(lines(fields)));
    });
}

function showNew(session: Session, { key, value }: CreateKeyResponse | RotateKeyResponse): void {
  const fields = asPlain(key as KeyAccount);
  session.print({ ...fields, value }, `${card(lines(fields))}\n\n${value}`);
  if (!session.json) session.note('\nThis is the key. It is not stored and cannot be shown again.');
}

type Row = ReturnType<typeof asPlain>;

function asPlain(key: KeyAccount) {
  return plain('truckroll.integrations.v1.KeyAccount', key);
}

const ends = (row: Row): string => `${String(row['key_prefix'])}…${String(row['key_suffix'])}`;
const state = (row: Row): string => String(row['state']).toLowerCase().replace('_', ' ');

function lines(row: Row): Record<string, unknown> {
  const { key_prefix, key_suffix, limits: own, state: now, ...rest } = row;
  return { ...rest, key: ends(row), limits: limits(row), state: state(row) };
}
