import type { DemoOptions } from '@truckroll/demo-company';
import { Option, type Command } from 'commander';
import { isoNow, moment, seedNumber } from '../arguments.ts';
import { formatInstant } from '@truckroll/contract';
import { EXIT, Failure } from '../failure.ts';
import { totalsTable } from '../import/totals.ts';
import { issueToken } from '@truckroll/local-stack/issue-token';
import type { Session } from '../session.ts';
import { card } from '../table.ts';

interface Given {
  ensure?: boolean;
  size: string;
  seed?: number;
  timezone: string;
  name?: string;
  until?: number;
}

/** Lifetime of the token in seconds: the default of TOKEN_MAX_AGE. */
const TOKEN_SECONDS = 86_400;

const HELP = `
The records are made up, but believable: two years of jobs, visits, invoices, payments and refunds, with everything that
makes integrations stumble (daylight saving, unicode, archived records, partial and failed payments). The same seed, size
and end give the same records; two seeds have no id in common.

Examples:
  truckroll demo
  truckroll demo --size large --seed 42
  truckroll demo --size 5000 --timezone America/Phoenix --name "Desert Air"`;

export function register(program: Command, session: Session): void {
  program
    .command('demo')
    .description('Make a company with made-up records, a user, an API key and a user token.')
    .option('--size <size>', 'small, medium, large (a million invoices), or a number of jobs', 'small')
    .option('--seed <number>', 'what the records follow from; a random one unless given', seedNumber)
    .option('--timezone <zone>', 'IANA time zone of the company', 'America/Chicago')
    .option('--name <name>', 'its name; one that fits unless given')
    .option('--until <instant>', 'end of its two years; now unless given', moment)
    .addOption(new Option('--ensure', 'the two companies of a local installation, made only once').hideHelp())
    .addHelpText('after', HELP)
    .action(async (given: Given) => {
      if (given.ensure === true) await ensure(session, given);
      else await create(session, given);
    });
}

async function ensure(session: Session, given: Given): Promise<void> {
  const { ensureDemo } = await import('../demo/ensure.ts');
  const credentials = await ensureDemo(session, sizeOf(given.size), untilOf(given));
  session.print(credentials, card({ ...credentials }));
}

async function create(session: Session, given: Given): Promise<void> {
  const { createDemoCompany, importDemo } = await import('../demo/create.ts');
  const seed = given.seed ?? Math.floor(Math.random() * 2 ** 32);
  const options: DemoOptions = { seed, size: sizeOf(given.size), timezone: given.timezone, until: untilOf(given) };
  await usable(options);
  const company = await createDemoCompany(session, options, given.name);
  const totals = await importDemo(session, company);
  const { companyId, userId, apiKey } = company;
  const { token } = await issueToken(session.state, { subject: userId, companyId, lifetimeSeconds: TOKEN_SECONDS });
  const answer = { company_id: companyId, user_id: userId, seed, until: options.until, api_key: apiKey, user_token: token };
  session.print({ ...answer, files: totals }, `${totalsTable(totals)}\n\n${card(answer)}`);
  if (totals.some(({ refused }) => refused > 0)) session.exitCode = EXIT.refused;
}

/** Rejects options that the generator cannot use, before anything is created. */
async function usable(options: DemoOptions): Promise<void> {
  const { generateCompany } = await import('@truckroll/demo-company');
  try {
    generateCompany(options);
  } catch (error) {
    if (error instanceof RangeError) throw new Failure(`${error.message}.`, EXIT.usage, error);
    throw error;
  }
}

function sizeOf(text: string): DemoOptions['size'] {
  return /^\d+$/.test(text) ? Number(text) : (text as DemoOptions['size']);
}

function untilOf(given: Given): string {
  return given.until === undefined ? isoNow() : formatInstant(given.until);
}
