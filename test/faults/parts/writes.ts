// The unmodified system: no violation may be found.
import { Installation } from '../system/installation.ts';
import { runWrites } from '../writes/run.ts';
import { keepEvidence } from './evidence.ts';
import type { Part, PartOptions } from './part.ts';
import { describeCounts, describeFaults, describeViolations, prefixed } from './report.ts';

/** Every process that a write or its event passes through, so not the webhook dispatcher. */
const TARGETS = ['gateway', 'scheduling', 'integrations', 'reporting', 'postgres', 'kafka', 'redis'];

export async function writesPart({ seed, writes, rounds, clients, pooled, separate, say }: PartOptions): Promise<Part> {
  say('writes: starting the system …');
  const installation = await Installation.start({ say, without: ['webhook-dispatcher'], pooled, separate });
  try {
    const faults = { targets: pooled ? [...TARGETS, 'pgbouncer'] : TARGETS, rounds, gapMs: [500, 4500], awayMs: [50, 2500], pauses: 0.3, atOnce: 2 } as const;
    const result = await runWrites(installation, { seed, writes, clients, visits: 200, thinkMs: 150, notify: 0.1, faults, say });
    say(describeFaults(result.faults));
    say(describeCounts(result.counts));
    say(describeViolations(result.violations));
    const passed = result.violations.length === 0;
    if (!passed) say(`  kept in ${keepEvidence(installation, 'writes', result)}`);
    const kills = Object.values(result.faults).reduce((sum, { kills: count }) => sum + count, 0);
    const { acknowledged, indefinite, events, duplicates } = result.counts;
    return {
      passed,
      figures: prefixed('writes', {
        acknowledged,
        indefinite,
        kills,
        events,
        duplicates,
        violations: result.violations.length,
        seconds: Math.round(result.seconds),
      }),
    };
  } finally {
    await installation.close();
  }
}
