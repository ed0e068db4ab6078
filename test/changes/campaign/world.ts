import { resource } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import type { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import type { Installation } from '../../faults/system/installation.ts';
import { HANG } from '../../faults/wait.ts';
import { demoLines } from '../../support/demo.ts';
import { createCompany, importRecords, type ImportReport, type TestCompany } from '../../support/company.ts';

type Line = Record<string, any>;

export interface World {
  readonly installation: Installation;
  readonly company: TestCompany;
  readonly lines: ReadonlyMap<string, readonly Line[]>;
  readonly chance: Chance;
  /** What was acknowledged of records that do not change afterwards. */
  readonly acknowledged: Acknowledged;
}

export interface Acknowledged {
  readonly complete: Map<string, number>;
  readonly removed: Map<string, number>;
}

export async function makeWorld(installation: Installation, jobs: number, chance: Chance): Promise<World> {
  const company = await createCompany(installation.channel('integrations'), 'America/Chicago');
  const lines = new Map<string, readonly Line[]>();
  const world = { installation, company, lines, chance, acknowledged: { complete: new Map(), removed: new Map() } };
  const options = { seed: 5, size: jobs, timezone: company.timezone, until: '2026-11-20T18:00:00Z' };
  for (const [path, records] of demoLines(options)) {
    lines.set(path, records);
    const { problems } = await importLines(world, path, records);
    if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
  }
  await until(
    'the key of the new company to be known',
    async () => {
      const response = await fetch(`${installation.baseUrl}/v1/company`, { headers: { authorization: `Bearer ${company.apiKey}` } });
      return response.ok;
    },
    Boolean,
    HANG,
  );
  return world;
}

export function importLines({ installation, company }: Pick<World, 'installation' | 'company'>, path: string, lines: readonly Line[]): Promise<ImportReport> {
  return importRecords(installation.channel(resource(path).owner), company.id, path, lines);
}
