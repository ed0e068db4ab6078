// Bugs inserted on purpose, each of which the campaign must find by what it does to the copies.
import { fileURLToPath } from 'node:url';
import type { Say } from '@truckroll/local-stack';
import type { Database } from '@truckroll/postgres';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { Installation } from '../../faults/system/installation.ts';
import { commitLate } from './late-commits.ts';
import { runPhase, threeReaders } from './run.ts';
import { makeWorld } from './world.ts';

interface Bug {
  readonly name: string;
  readonly says: string;
  readonly services: readonly string[];
  readonly prepare?: (database: Database) => Promise<void>;
  readonly found: RegExp;
  /** Services that are killed repeatedly, until a kill falls between two transactions. */
  readonly kills: readonly string[];
}

const BUGS: readonly Bug[] = [
  {
    name: 'sequence-without-watermark',
    says: 'positions are read in the order of their sequence, without a watermark',
    services: ['scheduling', 'billing', 'reporting', 'integrations'],
    found: /^(missed|stale) /,
    kills: [],
  },
  {
    name: 'derived-without-position',
    says: 'an update of derived fields has no position',
    services: [],
    prepare: (database) => rewriteTriggers(database, 'note_updated', (trigger) => trigger.replace(' OR (new.derived IS DISTINCT FROM old.derived)', '')),
    found: /^stale /,
    kills: [],
  },
  {
    name: 'late-tombstone',
    says: 'a tombstone is stored in another transaction',
    services: ['scheduling'],
    async prepare(database) {
      await database.query({ text: 'create table scheduling.seeded_removals as select company_id, id from scheduling.job_assignments with no data' });
      await database.query({ text: 'alter table scheduling.seeded_removals owner to scheduling' });
      await rewriteTriggers(database, 'note_deleted', (trigger) => trigger.replace(' ON scheduling.job_assignments ', ' ON scheduling.seeded_removals '));
      await database.query({ text: 'drop trigger note_deleted on scheduling.job_assignments' });
    },
    found: /^(held |phantom |digest of )job-assignments/,
    kills: ['scheduling'],
  },
];

/** Executes the definitions of triggers of this name that `rewrite` changes. There must be one. */
async function rewriteTriggers(database: Database, name: string, rewrite: (definition: string) => string): Promise<void> {
  const { rows } = await database.query<{ definition: string }>({
    text: 'select pg_get_triggerdef(oid) as definition from pg_trigger where tgname = $1',
    values: [name],
  });
  const changed = rows.map(({ definition }) => rewrite(definition)).filter((rewritten) => rows.every(({ definition }) => definition !== rewritten));
  if (changed.length === 0) throw new Error(`no trigger ${name} is as the seeded bug expects`);
  for (const definition of changed) await database.query({ text: definition.replace('CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER') });
}

export async function runSeeded(seed: number, say: Say): Promise<Record<string, number>> {
  const caught: Record<string, number> = {};
  for (const { name, says, services, prepare, found, kills } of BUGS) {
    say(`seeded bug: ${says}; starting the system …`);
    const preload = fileURLToPath(new URL(`../../faults/seeded/${name}/preload.ts`, import.meta.url));
    const installation = await Installation.start({
      say,
      preload: Object.fromEntries(services.map((service) => [service, preload])),
      without: ['webhook-dispatcher'],
      environment: { CHANGES_PER_MINUTE: '1000000' },
    });
    try {
      const world = await makeWorld(installation, 100, new Chance(seed));
      await commitLate(installation.database);
      await prepare?.(installation.database);
      const faults = { targets: kills, rounds: 8, gapMs: [4000, 6000], awayMs: [50, 500], pauses: 0, atOnce: 1 } as const;
      const { wrong } = await runPhase(world, threeReaders(installation.folder, undefined), { changes: 3000, faults, settleMs: 10_000, say });
      const seen = wrong.filter((difference) => found.test(difference));
      caught[`${name.replaceAll('-', '_')}_caught`] = seen.length;
      say(seen.length > 0 ? `  caught ${seen.length} times: ${seen[0]}` : `  NOT caught: ${JSON.stringify(wrong.slice(0, 5))}`);
    } finally {
      await installation.close();
    }
  }
  return caught;
}
