// Two cells that share Kafka, Redis and one gateway, each with its own PostgreSQL and services.
import { addressVariable, owners } from '@truckroll/contract';
import type { Say } from '@truckroll/local-stack';
import { Installation } from '../../faults/system/installation.ts';
import type { Target } from '../../faults/system/target.ts';

export interface Cells {
  /** Has the gateway of both. */
  readonly home: Installation;
  /** Has the Kafka and Redis of both. */
  readonly west: Installation;
  /** Every process and server of both cells, by name. */
  readonly targets: ReadonlyMap<string, Target>;
  close(): Promise<void>;
}

const PROGRAMS = [...owners, 'webhook-dispatcher', 'postgres'];

export async function startCells(say: Say, environment: Readonly<Record<string, string>>): Promise<Cells> {
  const west = await Installation.start({ say, cell: 'west', without: ['gateway'], environment });
  try {
    const CELLS = owners.map((owner) => `west/${owner}=${west.operator[addressVariable(owner)]}`).join();
    const home = await Installation.start({ say, cell: 'home', beside: west.prepared, environment: { ...environment, CELLS } });
    const named = (cell: string, targets: readonly Target[]) => targets.map((target) => [`${cell}${target.name}`, target] as const);
    return {
      home,
      west,
      targets: new Map([
        ...named('home ', home.targets(PROGRAMS)),
        ...named('west ', west.targets(PROGRAMS)),
        ...named('', [...home.targets(['gateway']), ...west.targets(['kafka', 'redis'])]),
      ]),
      async close() {
        await home.close();
        await west.close();
      },
    };
  } catch (error) {
    await west.close();
    throw error;
  }
}
