// Writers and readers work at once while parts of the system are killed; then copies are compared.
import { join } from 'node:path';
import type { Say } from '@truckroll/local-stack';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { injectFaults, type FaultCount, type Faults } from '../../faults/injector.ts';
import { differences } from './compare.ts';
import { follow, type Reader, type ReaderCounts } from './readers.ts';
import type { World } from './world.ts';
import { write } from './writers.ts';

export interface PhaseOptions {
  readonly changes: number;
  readonly faults: Pick<Faults, 'rounds' | 'gapMs' | 'awayMs' | 'pauses' | 'atOnce'> & { readonly targets: readonly string[] };
  readonly settleMs: number;
  readonly say: Say;
}

export interface PhaseResult {
  readonly changes: number;
  readonly pages: number;
  readonly readerKills: number;
  readonly faults: Readonly<Record<string, FaultCount>>;
  /** `missed`, `phantom`, `stale`, `digest of` or, at an earlier moment, `lacked` or `held`. */
  readonly wrong: readonly string[];
}

export async function runPhase(world: World, readers: readonly Reader[], options: PhaseOptions): Promise<PhaseResult> {
  const { installation, chance } = world;
  const { changes, faults, settleMs, say } = options;
  const counts: ReaderCounts = { pages: 0, kills: 0, broken: [] };
  const end = new AbortController();
  const following = Promise.all(readers.map((reader) => follow(world, reader, counts, end.signal)));
  let injecting = true;
  const injected = injectFaults({ ...faults, targets: installation.targets(faults.targets), chance: new Chance(chance.below(2 ** 32)), say });
  injected.catch(() => undefined).finally(() => (injecting = false));
  const kills = readers.some(({ killed }) => killed !== undefined) ? 1 : 0;
  const made = await write(world, changes, () => injecting || counts.kills < kills).finally(() => end.abort());
  await following;
  const hit = await injected;
  say(`${made} changes, ${counts.pages} pages; comparing the copies with an export …`);
  const wrong = [...new Set(counts.broken), ...(await differences(world, readers, join(installation.folder, 'export'), settleMs)), ...installation.accidents];
  return { changes: made, pages: counts.pages, readerKills: counts.kills, faults: hit, wrong };
}

/** Three readers with different page sizes. Copies of earlier phases are continued. */
export function threeReaders(folder: string, killed: Reader['killed']): Reader[] {
  return [1000, 100, 20].map((limit) => ({ file: join(folder, `copy-${limit}.db`), limit, ...(limit === 20 && killed !== undefined && { killed }) }));
}
