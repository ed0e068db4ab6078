// Creates the two demo companies of a local installation at its first start, and finds them at every later one.
import { owners } from '@truckroll/contract';
import type { DemoOptions } from '@truckroll/demo-company';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Totals } from '../import/totals.ts';
import { DEMO_COMPANIES_FILE, accessTo, type DemoAccess } from '@truckroll/local-stack/demo-companies';
import { readState, writeState } from '../state.ts';
import type { Session } from '../session.ts';
import { openDesk } from './desk.ts';
import { authenticates, createCredentials, createDemoCompany, exists, importDemo, type DemoCompany } from './create.ts';

const START_MS = 30_000;

/** The two companies: one that looks like a real business, and one that is small. All else follows from these. */
const DEMOS = [
  { seed: 1, timezone: 'America/Chicago', size: 'business' },
  { seed: 2, timezone: 'America/New_York', size: 120 },
] as const;

/** Without `size`, each company has its own. */
export async function ensureDemo(session: Session, size: DemoOptions['size'] | undefined, until: string): Promise<DemoAccess> {
  for (const owner of owners) await session.ready(owner, START_MS);
  const kept = readState<{ companies: DemoCompany[] }>(session.state, DEMO_COMPANIES_FILE)?.companies ?? [];
  const companies: DemoCompany[] = [];
  for (const [index, demo] of DEMOS.entries()) {
    const keep = (company: DemoCompany): DemoCompany => {
      companies[index] = company;
      // Written at every step, so that an interrupted start continues where it stopped.
      writeState(session.state, DEMO_COMPANIES_FILE, { companies: [...companies, ...kept.slice(companies.length)] });
      return company;
    };
    await ensureCompany(session, kept[index], { ...demo, size: size ?? demo.size, until }, keep);
  }
  const [first, second] = companies as [DemoCompany, DemoCompany];
  return await accessTo(session.state, first, second);
}

async function ensureCompany(
  session: Session,
  kept: DemoCompany | undefined,
  options: DemoOptions,
  keep: (company: DemoCompany) => DemoCompany,
): Promise<void> {
  let company: DemoCompany;
  // After a new database has been set up, the stored company does not exist in it.
  if (kept === undefined || !(await exists(session, kept))) company = keep(await createDemoCompany(session, options));
  else if (await authenticates(session, kept)) company = keep(kept);
  else company = keep({ ...kept, ...(await createCredentials(session, kept.companyId)) });
  if (company.imported) return;
  const refused = refusedOf(await importDemo(session, company));
  if (refused > 0) throw new Failure(`${refused} demo records were refused, for the reasons above.`, EXIT.refused);
  if (company.options.size === 'business') await openDesk(session, company);
  keep({ ...company, imported: true });
}

const refusedOf = (totals: readonly Totals[]): number => totals.reduce((sum, { refused }) => sum + refused, 0);
