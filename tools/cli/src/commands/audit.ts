import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { formatInstant, messageJson } from '@truckroll/contract';
import { AuditAdminServiceService, type AuditTrailEvent } from '@truckroll/contract/gen/integrations/v1/audit';
import type { Command } from 'commander';
import { moment } from '../arguments.ts';
import { knownCompany } from '../company.ts';
import type { Session } from '../session.ts';
import { table, type Columns } from '@truckroll/integrator-cli/terminal/table';

const PAGE = 1000;
const LISTED = 50;
const WHOLE_INSTALLATION = '00000000-0000-0000-0000-000000000000';

const EXAMPLES = `
Events are kept for 365 days and listed newest first. An operator's name is part of the credential (operator:<name>.<secret>).
--json shows each event in full, with the object before and after the change, but only scheme, host and port of a webhook
endpoint's URL.

Examples:
  truckroll audit --company 7d1c…
  truckroll audit --actor ana --from 2026-11-01
  truckroll audit --action api_key.created --action api_key.revoked --json`;

interface Given {
  company?: string;
  actor: string[];
  action: string[];
  from?: number | null;
  before?: number | null;
  limit: number;
}

export function register(program: Command, session: Session): void {
  const several = (text: string, earlier: string[]): string[] => [...earlier, text];
  program
    .command('audit')
    .description('See who did what, in one company or in all of them, newest first.')
    .option('--company <id>', 'only what concerns this company')
    .option('--actor <id>', 'only what this user or key did, or this operator by name; repeat it for several', several, [])
    .option('--action <action>', 'only this action, such as webhook.updated; repeat it for several', several, [])
    .option('--from <when>', 'only at or after this date-time or date', moment)
    .option('--before <when>', 'only before this date-time or date', moment)
    .option('--limit <number>', 'how many to show', positiveInteger, LISTED)
    .addHelpText('after', EXAMPLES)
    .action(async ({ company, actor, action, from = null, before = null, limit }: Given) => {
      if (company !== undefined) await knownCompany(session, company);
      const service = session.client('integrations', AuditAdminServiceService);
      const events: AuditTrailEvent[] = [];
      let more = true;
      for (let after: Buffer = Buffer.alloc(0); more && events.length < limit; ) {
        const filter = { company_id: company ?? null, from, before, actor, action };
        const page = await service.listAuditTrail({ ...filter, limit: Math.min(PAGE, limit - events.length), after });
        events.push(...page.events);
        after = page.next;
        more = after.length > 0;
      }
      session.print(events.map(asJson), table(events, COLUMNS, 'There is no such entry.') + (more ? '\n… and older ones: give --limit.' : ''));
    });
}

function asJson({ company_id, event }: AuditTrailEvent): unknown {
  const shown = JSON.parse(messageJson('truckroll.integrations.v1.AuditEvent', event ?? {}, 'snake')) as object;
  return { company_id: company_id === WHOLE_INSTALLATION ? null : company_id, ...shown };
}

const COLUMNS: Columns<AuditTrailEvent> = {
  AT: ({ event }) => formatInstant(event?.at ?? 0),
  ACTOR: ({ event }) => `${event?.actor?.kind.replace('AUDIT_ACTOR_KIND_', '').toLowerCase() ?? ''} ${event?.actor?.name ?? ''}`,
  ACTION: ({ event }) => event?.action,
  OBJECT: ({ event }) => `${event?.object?.kind ?? ''}/${event?.object?.id ?? ''}`,
  COMPANY: ({ company_id }) => (company_id === WHOLE_INSTALLATION ? null : company_id),
  ADDRESS: ({ event }) => event?.address,
  REQUEST: ({ event }) => event?.request_id,
};
