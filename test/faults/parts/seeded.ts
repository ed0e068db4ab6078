// Runs scheduling with bugs inserted on purpose. The check must find each one by its effects.
import { fileURLToPath } from 'node:url';
import { Installation } from '../system/installation.ts';
import type { Kind } from '../writes/check/violations.ts';
import { runWrites } from '../writes/run.ts';
import { keepEvidence } from './evidence.ts';
import type { Part, PartOptions } from './part.ts';
import { describeFaults, describeViolations, prefixed } from './report.ts';

interface Bug {
  readonly name: string;
  readonly says: string;
  readonly kind: Kind;
  readonly targets: readonly string[];
  readonly rounds: number;
}

const BUGS: readonly Bug[] = [
  {
    name: 'publish-before-commit',
    says: 'events are published before the commit',
    kind: 'event-without-write',
    targets: ['scheduling', 'postgres'],
    rounds: 3,
  },
  {
    name: 'check-then-insert',
    says: 'a key is looked up first and stored last',
    kind: 'two-effects-of-a-key',
    targets: ['gateway'],
    rounds: 1,
  },
];

export async function seededPart({ seed, clients, say }: PartOptions): Promise<Part> {
  const caught: Record<string, number> = {};
  for (const bug of BUGS) {
    say(`seeded bug: ${bug.says}; starting the system …`);
    const preload = { scheduling: fileURLToPath(new URL(`../seeded/${bug.name}/preload.ts`, import.meta.url)) };
    const installation = await Installation.start({ say, preload, without: ['webhook-dispatcher'] });
    try {
      const faults = { targets: bug.targets, rounds: bug.rounds, gapMs: [2000, 4000], awayMs: [50, 500], pauses: 0, atOnce: 2 } as const;
      const result = await runWrites(installation, { seed, writes: 400, clients, visits: 40, thinkMs: 100, notify: 0, followMs: 5000, faults, say });
      const found = result.violations.filter(({ kind }) => kind === bug.kind).length;
      caught[`${bug.name.replaceAll('-', '_')}_caught`] = found;
      say(describeFaults(result.faults));
      say(describeViolations(result.violations, 3));
      say(
        found > 0 ? `  caught: ${bug.kind} ${found} times` : `  NOT caught: there is no ${bug.kind}; kept in ${keepEvidence(installation, bug.name, result)}`,
      );
    } finally {
      await installation.close();
    }
  }
  return { figures: prefixed('seeded', caught), passed: Object.values(caught).every((count) => count > 0) };
}
