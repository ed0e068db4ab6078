import { KeyAdminServiceService, type CreateKeyResponse, type KeyAccount, type RotateKeyResponse } from '@truckroll/contract/gen/integrations/v1/admin';
import type { Command } from 'commander';
import { expiry, positiveInteger } from '../arguments.ts';
import { limits } from '../limits.ts';
import { plain } from '../plain.ts';
import type { Session } from '../session.ts';
import { card, table } from '../table.ts';

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
The value is shown once and stored nowhere: hand it to the integrator over a channel you trust.

Examples:
  truckroll key create --company 7d1c… --user 90af… --name "Bookkeeping export" --expires 365d
  truckroll key create --company 7d1c… --user 90af… --name "Load test" --reads-per-minute 10000000`;

export function register(program: Command, session: Session): void {
  const key = program.command('key').description('API keys: each opens one company and is linked to one of its users.');
  const service = () => session.client('integrations', KeyAdminServiceService);

  key
    .command('create')
    .description('Issue an API key.')
    .requiredOption('--company <id>', 'id of the company that it opens')
    .requiredOption('--user <id>', 'id of the user that it is linked to')
    .requiredOption('--name <name>', 'what it is for')
    .option('--expires <when>', 'when it ends by itself: a date-time, a date, or a duration such as 90d', expiry)
    .option('--reads-per-minute <number>', 'reads allowed in a minute; 6000 unless the gateway says otherwise', positiveInteger)
    .option('--reports-per-minute <number>', 'reports allowed in a minute; 600 unless the gateway says otherwise', positiveInteger)
    .option('--writes-per-minute <number>', 'writes allowed in a minute; 1200 unless the gateway says otherwise', positiveInteger)
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
    .description('Give a key a new value. The old one answers 401 within a second on every gateway; name, end and limits stay.')
    .argument('<id>', 'id of the key')
    .addHelpText('after', '\nTo change over without a gap, create a second key instead, and revoke the first one when it is no longer used.')
    .action(async (id: string) => showNew(session, await service().rotateKey({ id })));

  key
    .command('list')
    .description('List the keys of a company, oldest first, expired ones and those that were revoked in the last 30 days included.')
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
    .description('End a key. It answers 401 within a second on every gateway.')
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
