// What the read benchmarks measure: billing behind the gateway, with its data and a key for each company.
import { join } from 'node:path';
import { KeyFile } from '../system/operator.ts';
import { startSystem } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { evenCompanies, type DataSet } from './companies.ts';
import { prepareData } from './prepare.ts';
import type { Caller } from './targets.ts';

export async function startReading(stack: Stack, set: DataSet, env: Record<string, string> = {}) {
  const keys = new KeyFile(join(stack.folder, `${set.database}-keys.json`));
  await prepareData(stack, set, keys);
  const system = await startSystem(stack, ['integrations', 'billing'], env);
  const callers: Caller[] = [];
  for (const { id: companyId } of evenCompanies(set)) callers.push({ companyId, key: await keys.of(companyId, system.operator) });
  return { ...system, callers };
}
