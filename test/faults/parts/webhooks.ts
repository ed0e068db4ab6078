import { Installation } from '../system/installation.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { runWebhooks, type WebhooksOptions } from '../webhooks/run.ts';
import { keepEvidence } from './evidence.ts';
import type { Part, PartOptions } from './part.ts';
import { describeCounts, describeFaults, describeViolations, prefixed } from './report.ts';

const TARGETS = ['webhook-dispatcher', 'integrations', 'kafka', 'postgres'];

export async function webhooksPart({ seed, events, separate, say }: PartOptions): Promise<Part> {
  const runs: readonly Pick<WebhooksOptions, 'name' | 'faults'>[] = [
    { name: 'calm' },
    { name: 'faults', faults: { targets: TARGETS, rounds: 2, gapMs: [0, 300], awayMs: [50, 2500], pauses: 0, atOnce: 1 } },
  ];
  say('webhooks: starting the system …');
  const receiver = await startReceiver();
  try {
    const installation = await Installation.start({
      say,
      without: ['billing', 'reporting'],
      environment: { WEBHOOK_ALLOWED_TARGETS: receiver.target },
      separate,
    });
    try {
      let passed = true;
      let figures: Record<string, number> = {};
      for (const run of runs) {
        say(`webhooks, ${run.faults ? 'while parts of the way are killed' : 'without faults'}:`);
        const result = await runWebhooks(installation, receiver, { ...run, seed, events, say });
        const { counts, violations, seconds } = result;
        if (run.faults) say(describeFaults(result.faults));
        say(describeCounts(counts));
        say(describeViolations(violations));
        if (violations.length > 0) say(`  kept in ${keepEvidence(installation, `webhooks ${run.name}`, result)}`);
        passed &&= violations.length === 0;
        const { events: published, deliveries, duplicates } = counts;
        figures = {
          ...figures,
          ...prefixed(`webhooks_${run.name}`, { events: published, deliveries, duplicates, violations: violations.length, seconds: Math.round(seconds) }),
        };
      }
      return { passed, figures };
    } finally {
      await installation.close();
    }
  } finally {
    await receiver.close();
  }
}
