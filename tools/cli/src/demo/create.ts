import { hashApiKey, resource } from '@truckroll/contract';
import {
  CompanyAdminServiceService,
  type CreateCompanyRequest,
  KeyAdminServiceService,
  UserAdminServiceService,
} from '@truckroll/contract/gen/integrations/v1/admin';
import { IdentityServiceService } from '@truckroll/contract/gen/integrations/v1/identity';
import { describeCompany, generateCompany, type DemoOptions, type DemoRecord } from '@truckroll/demo-company';
import type { NotedCompany } from '@truckroll/local-stack/demo-companies';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { card } from '@truckroll/integrator-cli/terminal/table';
import { NotImported, importRecords } from '../import/importer.ts';
import { batches } from '../import/lines.ts';
import { totalsTable, type Totals } from '../import/totals.ts';
import type { Session } from '../session.ts';

/** What is stored about a demo company, so that the next start finds it. */
export interface DemoCompany extends NotedCompany {
  readonly options: DemoOptions;
}

export async function createDemoCompany(session: Session, options: DemoOptions, settings: Partial<CreateCompanyRequest> = {}): Promise<DemoCompany> {
  const described = describeCompany(options);
  const companies = session.client('integrations', CompanyAdminServiceService);
  const { company } = await companies.createCompany({ name: described.name, ...settings, timezone: options.timezone });
  const companyId = company?.id ?? '';
  if (settings.sandbox === true && company?.sandbox !== true)
    throw new Failure(
      `An integrations service of an older release has made company ${companyId}, which is empty and no sandbox: upgrade all of them first.`,
      EXIT.refused,
    );
  return { options, companyId, imported: false, ...(await createCredentials(session, companyId)) };
}

/** Creates a company with generated records, a user and a key. Throws Failure before it creates anything if the generator cannot use the options. */
export async function createFilledCompany(session: Session, options: DemoOptions, settings: Partial<CreateCompanyRequest>) {
  requireUsable(options);
  const company = await createDemoCompany(session, options, settings);
  return { company, totals: await importDemo(session, company) };
}

/** Prints what was created. The exit code says whether a record was refused. */
export function showFilled(session: Session, answer: Readonly<Record<string, unknown>>, totals: readonly Totals[]): void {
  session.print({ ...answer, files: totals }, `${totalsTable(totals)}\n\n${card(answer)}`);
  if (totals.some(({ refused }) => refused > 0)) session.exitCode = EXIT.refused;
}

/** Throws if the generator cannot use them. */
function requireUsable(options: DemoOptions): void {
  try {
    generateCompany(options);
  } catch (error) {
    if (error instanceof RangeError) throw new Failure(`${error.message}.`, EXIT.usage, error);
    throw error;
  }
}

/** Creates a key, and a user if there is no active one, for a company that has no working key. */
export async function createCredentials(session: Session, companyId: string): Promise<{ userId: string; apiKey: string }> {
  const users = session.client('integrations', UserAdminServiceService);
  const known = (await users.listUsers({ company_id: companyId })).users.find((candidate) => candidate.active);
  const made = { company_id: companyId, email: 'demo@truckroll.example', first_name: 'Dana', last_name: 'Demo' };
  const userId = (known ?? (await users.createUser(made)).user)?.id ?? '';
  const keys = session.client('integrations', KeyAdminServiceService);
  const { value } = await keys.createKey({ company_id: companyId, user_id: userId, name: 'Demo', limits: null });
  return { userId, apiKey: value };
}

/** Whether the key is still valid for the company. */
export async function authenticates(session: Session, { apiKey, companyId }: DemoCompany): Promise<boolean> {
  const identity = session.client('integrations', IdentityServiceService);
  const { principal } = await identity.authenticate({ key_hash: hashApiKey(apiKey) });
  return principal?.company_id === companyId;
}

export async function exists(session: Session, { companyId }: DemoCompany): Promise<boolean> {
  const { companies } = await session.client('integrations', CompanyAdminServiceService).listCompanies({ id: companyId });
  return companies.length > 0;
}

/** Imports the records of a demo company; existing records do not change. */
export async function importDemo(session: Session, { options, companyId }: DemoCompany): Promise<Totals[]> {
  const totals: Totals[] = [];
  for (const { path, records } of generateCompany(options)) {
    const work = { companyId, resource: resource(path), name: `demo ${path}`, total: undefined };
    try {
      totals.push(await importRecords(session, { ...work, batches: (unsendable) => batches(linesOf(records), unsendable) }));
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      session.note(error.message);
    }
  }
  return totals;
}

async function* linesOf(records: Iterable<DemoRecord>) {
  let readBytes = 0;
  for (const record of records) {
    const text = Buffer.from(JSON.stringify(record));
    readBytes += text.length;
    yield { text, readBytes };
  }
}
