import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { formatInstant } from '@truckroll/contract';
import { EndpointAdminServiceService, type EndpointAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import { InvalidArgumentError, type Command } from 'commander';
import { knownCompany } from '../company.ts';
import { plain } from '../plain.ts';
import type { Session } from '../session.ts';
import { table, type Columns } from '@truckroll/integrator-cli/terminal/table';

const PAGE = 100;
const LISTED = 25;
const STATES = Object.entries(WebhookHealthState).filter(([name]) => name !== 'UNSPECIFIED');

const EXAMPLES = `
Order: failing endpoints, the longest-failing first; endpoints disabled for failing; degraded, paused, healthy and idle ones;
endpoints that users disabled. Rates and times cover the last 24 hours.

Examples:
  truckroll endpoints
  truckroll endpoints --state failing --state degraded
  truckroll endpoints --company 7d1c… --limit 100`;

interface Given {
  company?: string;
  state?: WebhookHealthState[];
  limit: number;
}

export function register(program: Command, session: Session): void {
  program
    .command('endpoints')
    .description('List the health of all companies’ webhook endpoints, worst first.')
    .option('--company <id>', 'only those of this company')
    .option('--state <state>', `only those that are ${STATES.map(([name]) => name.toLowerCase()).join(', ')}; repeat it for several`, stateNamed)
    .option('--limit <number>', 'how many to show', positiveInteger, LISTED)
    .addHelpText('after', EXAMPLES)
    .action(async ({ company, state = [], limit }: Given) => {
      if (company !== undefined) await knownCompany(session, company);
      const service = session.client('integrations', EndpointAdminServiceService);
      const endpoints: EndpointAccount[] = [];
      let total = 0;
      for (let after: Buffer = Buffer.alloc(0); endpoints.length < limit; ) {
        const page = await service.listEndpoints({ company_id: company ?? null, state, limit: Math.min(PAGE, limit - endpoints.length), after });
        endpoints.push(...page.endpoints);
        total = page.total;
        after = page.next;
        if (after.length === 0) break;
      }
      const more = Math.max(0, total - endpoints.length);
      const rest = more > 0 ? `\n… and ${more.toLocaleString('en')} more: give --limit.` : '';
      session.print(
        { endpoints: endpoints.map((endpoint) => plain('truckroll.integrations.v1.EndpointAccount', endpoint)), total },
        table(endpoints, COLUMNS, 'There is no such endpoint.') + rest,
      );
    });
}

function stateNamed(text: string, before: WebhookHealthState[] = []): WebhookHealthState[] {
  const found = STATES.find(([name]) => name.toLowerCase() === text);
  if (found === undefined) throw new InvalidArgumentError(`Give one of ${STATES.map(([name]) => name.toLowerCase()).join(', ')}.`);
  return [...before, found[1]];
}

const COLUMNS: Columns<EndpointAccount> = {
  STATE: (row) => stateOf(row),
  SINCE: ({ health }) => instant(health?.failing_since),
  'NEXT TRY': ({ health }) => instant(health?.circuit?.next_try_at),
  OK: ({ health }) => (health?.success_rate == null ? null : `${(health.success_rate * 100).toFixed(1)} %`),
  'P95 MS': ({ health }) => health?.p95_ms ?? null,
  WAITING: ({ health }) => health?.backlog ?? 0,
  OLDEST: ({ health }) => instant(health?.oldest_waiting_at),
  COMPANY: ({ company_name }) => company_name,
  NAME: ({ name }) => name,
  HOST: ({ host }) => host,
  ID: ({ id }) => id,
};

function stateOf({ health, disabled_reason: reason }: EndpointAccount): string {
  const state = short(health?.state ?? '');
  return reason == null ? state : `${state}: ${short(reason)}`;
}

function short(name: string): string {
  return name.replace(/^(WEBHOOK_HEALTH_STATE|DISABLED_REASON)_/, '').toLowerCase();
}

function instant(at: number | null | undefined): string | null {
  return at == null ? null : formatInstant(at - (at % 1_000_000));
}
