import { resource } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { compareReadModel, READ_MODELS } from '../../tools/cli/src/verify/compare.ts';
import type { System, TestCompany } from './system.ts';

export async function differences(system: System, company: TestCompany): Promise<unknown[]> {
  const found = await Promise.all(
    READ_MODELS.map((path) => {
      const owner = resource(path).owner === 'billing' ? system.channel('billing') : system.channel('scheduling');
      return compareReadModel({ owner, reporting: system.channel('reporting') }, company, path);
    }),
  );
  return found.flatMap((result) => result.differences);
}

export async function untilFollowed(system: System, company: TestCompany): Promise<void> {
  await until(
    'reporting to have what its owners have',
    () => differences(system, company),
    ({ length }) => length === 0,
  );
}
