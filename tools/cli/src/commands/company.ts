import { randomInt } from 'node:crypto';
import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { CompanyAdminServiceService, type CompanyAccount, type UpdateCompanyRequest } from '@truckroll/contract/gen/integrations/v1/admin';
import { Option, type Command } from 'commander';
import { demoSize, isoNow, limitOrDefault, onOff } from '../arguments.ts';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { limits } from '../limits.ts';
import { plain } from '../plain.ts';
import type { MoveOptions } from '../moving/move.ts';
import type { Session } from '../session.ts';
import { card, table } from '@truckroll/integrator-cli/terminal/table';

interface Settings {
  id?: string;
  sandbox?: boolean;
  size?: string;
  name?: string;
  timezone?: string;
  costing?: boolean;
  verifiedOnly?: boolean;
  webhookEndpoints?: number;
  keys?: number;
  readsPerMinute?: number;
  reportsPerMinute?: number;
  writesPerMinute?: number;
}

const CREATE_EXAMPLES = `
Examples:
  truckroll company create --name "Lone Star Comfort" --timezone America/Chicago
  truckroll company create --sandbox --name "Lone Star sandbox" --timezone America/Chicago`;

const SET_EXAMPLES = `
Examples:
  truckroll company set 7d1c… --costing off
  truckroll company set 7d1c… --webhook-endpoints 250 --keys 300
  truckroll company set 7d1c… --reads-per-minute 60000
  truckroll company set 7d1c… --reads-per-minute default`;

const DELETE_EXAMPLES = `
From then on its keys and tokens get 401 and its webhooks end; its data is removed in the background, and the command waits for that.
If it is interrupted, the services go on, and nothing stops them: run it again, with or without --yes-delete, to wait for the end. After
that it says what was deleted. What is left, and where (backups, event topics), is in docs/how-to/when-a-company-leaves.md.

Examples:
  truckroll company delete 7d1c…
  truckroll company delete 7d1c… --yes-delete "Lone Star Comfort"`;

const FREEZE_HELP = `
Every service refuses to change anything of the company from then on: writes, imports, intake, webhooks and settings get 503 with Retry-After.
It can be read, and its webhooks wait. It takes some seconds, because what was published before is applied first. If it is interrupted, run
it again: it continues. Do not freeze a company during an upgrade. More in docs/how-to/freeze-a-company.md.

Example:
  truckroll company freeze 7d1c…`;

const UNFREEZE_HELP = `
Example:
  truckroll company unfreeze 7d1c…`;

const MOVE_HELP = `
Moves a company to another cell, which is another PostgreSQL with services of its own. The company works meanwhile; at the end its writes
wait or are refused for about a second, and its reads wait for at most a second. Then it works in the other cell, with its keys and users. If the
command is interrupted, run it again: it continues. --abort gives up, until the other cell has taken the company over; after that the way
back is another move. If the other cell is gone for good, --abort --without-other gives up, and --lose-changes even after that.

DATABASE_URL and the services' addresses are those of the cell that it leaves, as for \`truckroll migrate\` and \`company freeze\`. With --to west
those of the other cell are the same variables behind WEST_: WEST_DATABASE_URL, WEST_CALL_CREDENTIAL, WEST_SCHEDULING_ADDRESS, WEST_GRPC_TLS_CA_FILE
and so on. Cells without names need no --to: the variables are then behind TO_. FROM_DATABASE_URL is how the other cell's PostgreSQL reaches
this one, if not by DATABASE_URL. More in docs/how-to/move-a-company.md.

Examples:
  truckroll company move 7d1c… --to west --check      # what it would do, and what stands in the way
  truckroll company move 7d1c… --to west
  truckroll company move 7d1c… --to west --confirm    # deletes it here`;

const EXPORT_HELP = `
Writes everything that \`truckroll company delete\` removes and that an owner would want, for readers of this machine's user only: in
records/ what the API answers, which \`truckroll import\` accepts, and in other/ users, keys, webhooks with their deliveries, messages,
saved views, the audit trail and requests, without secrets. manifest.json is written last, with the SHA-256 of each file. If it is
interrupted, run it again: it goes on with the file that was not complete.

Example:
  truckroll company export 7d1c… --to ./lone-star`;

const costing = () => new Option('--costing <on|off>', 'whether jobs are costed, as reports show').argParser(onOff);
const verifiedOnly = () => new Option('--verified-only <on|off>', 'whether reports count verified jobs only').argParser(onOff);

export function register(program: Command, session: Session): void {
  const company = program.command('company').description('Companies and their settings.');
  const service = () => session.client('integrations', CompanyAdminServiceService);

  company
    .command('create')
    .description('Add a company. It starts empty: fill it with `truckroll import`, or make it a sandbox.')
    .requiredOption('--name <name>', 'name of the business')
    .requiredOption('--timezone <zone>', 'IANA time zone of its dates, such as America/Chicago')
    .addOption(costing())
    .addOption(verifiedOnly())
    .option('--id <uuid>', 'id of the company, to restore it from an export')
    .option('--sandbox', 'fill it with generated records, with a user and an API key; answers and events have "sandbox": true in "meta"')
    .option('--size <size>', 'of a sandbox: small, business, medium, large, or a number of jobs; small by default')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (given: Required<Pick<Settings, 'name' | 'timezone'>> & Settings) => {
      const { name, timezone, id } = given;
      if (given.sandbox === true) return await createSandbox(session, given);
      if (given.size !== undefined) throw new Failure('Give --size with --sandbox only: another company starts empty.', EXIT.usage);
      const answer = await service().createCompany({ name, timezone, ...settings(given), ...(id === undefined ? {} : { id }) });
      show(session, answer.company as CompanyAccount);
    });

  company
    .command('list')
    .description('List the companies, oldest first.')
    .action(async () => {
      const { companies } = await service().listCompanies({});
      const rows = companies.map(asPlain);
      const columns = {
        ID: (row: Row) => row['id'],
        NAME: (row: Row) => row['name'],
        'TIME ZONE': (row: Row) => row['timezone'],
        COSTING: (row: Row) => (row['costing_enabled'] ? 'on' : 'off'),
        'VERIFIED ONLY': (row: Row) => (row['verified_only'] ? 'on' : 'off'),
        SANDBOX: (row: Row) => (row['sandbox'] ? 'yes' : ''),
        'FROZEN SINCE': (row: Row) => row['frozen_at'] ?? '',
        CREATED: (row: Row) => row['created_at'],
      };
      session.print(rows, table(rows, columns, 'There is no company yet: add one with `truckroll company create`.'));
    });

  company
    .command('set')
    .description('Change settings of a company; others stay unchanged.')
    .argument('<id>', 'id of the company')
    .option('--name <name>', 'name of the business')
    .option('--timezone <zone>', 'IANA time zone; dates are days in this zone from then on')
    .addOption(costing())
    .addOption(verifiedOnly())
    .option('--webhook-endpoints <number>', 'maximum webhook endpoints; default: 100', positiveInteger)
    .option('--keys <number>', 'maximum live API keys; default: 100', positiveInteger)
    .option('--reads-per-minute <number>', 'reads per minute of all its keys and users; "default" is three times a key’s', limitOrDefault)
    .option('--reports-per-minute <number>', 'reports per minute, likewise', limitOrDefault)
    .option('--writes-per-minute <number>', 'writes per minute, likewise', limitOrDefault)
    .addHelpText('after', SET_EXAMPLES)
    .action(async (id: string, given: Settings) => {
      if (Object.keys(given).length === 0) throw new Failure('Give what to change: --name, --timezone, --costing, --verified-only, or one of the limits.');
      const { name, timezone } = given;
      const texts = { ...(name === undefined ? {} : { name }), ...(timezone === undefined ? {} : { timezone }) };
      const answer = await service().updateCompany({ id, ...texts, ...settings(given) });
      show(session, answer.company as CompanyAccount);
    });

  company
    .command('export')
    .description('Write everything of a company that leaves into a folder, without secrets.')
    .argument('<id>', 'id of the company')
    .requiredOption('--to <folder>', 'a new folder, or one in which an export of the company was interrupted')
    .addHelpText('after', EXPORT_HELP)
    .action(async (id: string, { to }: { to: string }) => {
      const { exportCompany } = await import('../leaving/export.ts');
      await exportCompany(session, id, to);
    });

  company
    .command('freeze')
    .description('Refuse every change of a company, for example while it is moved. It can be read.')
    .argument('<id>', 'id of the company')
    .addHelpText('after', FREEZE_HELP)
    .action(async (id: string) => {
      const { freezeCompany } = await import('../freeze.ts');
      await freezeCompany(session, id);
    });

  company
    .command('unfreeze')
    .description('Accept changes of a frozen company again.')
    .argument('<id>', 'id of the company')
    .addHelpText('after', UNFREEZE_HELP)
    .action(async (id: string) => {
      const { unfreezeCompany } = await import('../freeze.ts');
      await unfreezeCompany(session, id);
    });

  company
    .command('move')
    .description('Move a company to another cell while it works.')
    .argument('<id>', 'id of the company')
    .option('--to <cell>', 'name of the other cell, behind which its variables are; default: they are behind TO_')
    .option('--check', 'only print what would be moved, and what stands in the way')
    .option('--status', 'only print how far the move is')
    .option('--abort', 'give the move up: the company stays here')
    .option('--without-other', 'with --abort: the other cell is gone for good')
    .option('--lose-changes', 'with --without-other: also if the other cell had taken the company over; what changed there is lost')
    .option('--confirm', 'after the move, delete what is left of the company here')
    .addHelpText('after', MOVE_HELP)
    .action(async (id: string, options: MoveOptions) => {
      const { moveCompany } = await import('../moving/move.ts');
      await moveCompany(session, id, options);
    });

  company
    .command('delete')
    .description('Delete a company and everything of it, for good. Without --yes-delete it only says what would be deleted.')
    .argument('<id>', 'id of the company')
    .option('--yes-delete <name>', 'name of the company, exactly as `truckroll company list` shows it')
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, { yesDelete }: { yesDelete?: string }) => {
      const { deleteCompany } = await import('../leaving/delete.ts');
      await deleteCompany(session, id, yesDelete);
    });
}

async function createSandbox(session: Session, given: Required<Pick<Settings, 'name' | 'timezone'>> & Settings): Promise<void> {
  const { createFilledCompany, showFilled } = await import('../demo/create.ts');
  const { name, timezone, id } = given;
  const options = { seed: randomInt(2 ** 32), size: demoSize(given.size ?? 'small'), timezone, until: isoNow() };
  const own = { name, sandbox: true, ...settings(given), ...(id === undefined ? {} : { id }) };
  const { company, totals } = await createFilledCompany(session, options, own);
  showFilled(session, { company_id: company.companyId, user_id: company.userId, api_key: company.apiKey }, totals);
}

type Row = ReturnType<typeof asPlain>;

function asPlain(company: CompanyAccount) {
  return plain('truckroll.integrations.v1.CompanyAccount', company);
}

function settings(given: Settings): Pick<UpdateCompanyRequest, 'costing_enabled' | 'verified_only' | 'webhook_endpoint_limit' | 'key_limit' | 'limits'> {
  const { readsPerMinute: reads_per_minute, reportsPerMinute: reports_per_minute, writesPerMinute: writes_per_minute } = given;
  return {
    ...(given.keys === undefined ? {} : { key_limit: given.keys }),
    limits: { reads_per_minute, reports_per_minute, writes_per_minute },
    ...(given.webhookEndpoints === undefined ? {} : { webhook_endpoint_limit: given.webhookEndpoints }),
    ...(given.costing === undefined ? {} : { costing_enabled: given.costing }),
    ...(given.verifiedOnly === undefined ? {} : { verified_only: given.verifiedOnly }),
  };
}

function show(session: Session, company: CompanyAccount): void {
  const fields = asPlain(company);
  session.print(fields, card({ ...fields, limits: limits(fields) }));
}
