import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection, type Interaction } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus, type ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { Argument, Option, type Command } from 'commander';
import { moment } from '../arguments.ts';
import { plain } from '../plain.ts';
import type { Session } from '../session.ts';
import { card } from '../table.ts';

type Texts = Readonly<Record<string, string | undefined>>;
type Moments = Readonly<Record<'wantsFrom' | 'wantsUntil' | 'started' | 'ended', number | undefined>>;
type Given = Texts & Moments & { company: string };

const HELP = `
Service requests and interactions raise the events that webhooks deliver. A request or interaction that is given an --id
may be recorded again: the same content answers as the first time and raises nothing.

Examples:
  truckroll intake request --company 7d1c… --channel phone --summary "AC not cooling" --account 90af…
  truckroll intake status 3b5e… contacted --company 7d1c…
  truckroll intake book 3b5e… --job 61c2… --appointment 0f4d… --company 7d1c…
  truckroll intake interaction --company 7d1c… --channel call --direction inbound --request 3b5e…
  truckroll intake complete 88d0… --outcome "Booked for Tuesday" --company 7d1c…`;

export function register(program: Command, session: Session): void {
  const intake = program.command('intake').description('Record what customers ask for, and how the company talks with them.').addHelpText('after', HELP);
  const service = () => session.client('scheduling', IntakeServiceService);
  const command = (name: string, description: string): Command =>
    intake.command(name).description(description).requiredOption('--company <id>', 'id of the company');

  command('request', 'Record a service request.')
    .addOption(choice('--channel <channel>', 'how it arrived', ServiceRequestChannel).makeOptionMandatory())
    .option('--id <uuid>', 'its id, a new one unless given')
    .option('--summary <text>', 'what the customer asks for')
    .option('--account <id>', 'the customer')
    .option('--contact-name <name>', 'who asks')
    .option('--contact-phone <number>', 'their telephone number')
    .option('--contact-email <address>', 'their e-mail address')
    .option('--location <id>', 'where the work is wanted')
    .option('--business-unit <id>', 'the part of the business that it concerns')
    .option('--job-type <id>', 'the kind of work')
    .option('--lead-source <id>', 'how the customer came to ask')
    .option('--wants-from <when>', 'earliest time that the customer would like', moment)
    .option('--wants-until <when>', 'latest time that the customer would like', moment)
    .action(async (given: Given) => {
      const { service_request } = await service().recordServiceRequest({
        company_id: given.company,
        id: given.id ?? randomUUID(),
        channel: named(ServiceRequestChannel, given.channel),
        summary: given.summary,
        account_id: given.account,
        contact_name: given.contactName,
        contact_phone: given.contactPhone,
        contact_email: given.contactEmail,
        location_id: given.location,
        business_unit_id: given.businessUnit,
        job_type_id: given.jobType,
        lead_source_id: given.leadSource,
        requested_starts_at: given.wantsFrom,
        requested_ends_at: given.wantsUntil,
      });
      showRequest(session, service_request);
    });

  command('status', 'Move a service request on: contacted, completed, closed or canceled.')
    .argument('<id>', 'id of the service request')
    .addArgument(new Argument('<status>', 'its new status').choices(choicesOf(ServiceRequestStatus)))
    .option('--reason <text>', 'why it is closed or canceled')
    .action(async (id: string, status: string, { company, reason }: Given) => {
      const asked = { company_id: company, id, status: named(ServiceRequestStatus, status), closed_reason: reason };
      showRequest(session, (await service().changeServiceRequestStatus(asked)).service_request);
    });

  command('book', "Attach a job's visit to a service request.")
    .argument('<id>', 'id of the service request')
    .requiredOption('--job <id>', 'id of the job')
    .requiredOption('--appointment <id>', 'id of a visit of that job')
    .action(async (id: string, { company, job = '', appointment = '' }: Given) => {
      const asked = { company_id: company, id, job_id: job, appointment_id: appointment };
      showRequest(session, (await service().bookServiceRequest(asked)).service_request);
    });

  command('show', 'Show a service request.')
    .argument('<id>', 'id of the service request')
    .action(async (id: string, { company }: Given) => showRequest(session, (await service().getServiceRequest({ company_id: company, id })).service_request));

  command('interaction', 'Record an interaction; with --ended, one that is over.')
    .addOption(choice('--channel <channel>', 'the way it took', InteractionChannel).makeOptionMandatory())
    .addOption(choice('--direction <direction>', 'who began it: inbound is the customer', InteractionDirection).makeOptionMandatory())
    .option('--id <uuid>', 'its id, a new one unless given')
    .option('--account <id>', 'the customer')
    .option('--contact <id>', 'who spoke for the customer')
    .option('--handled-by <id>', 'the team member who spoke for the company')
    .option('--request <id>', 'the service request that it is about')
    .option('--job <id>', 'the job that it is about')
    .option('--summary <text>', 'what was said')
    .option('--outcome <text>', 'what it led to')
    .option('--started <when>', 'when it began; now unless given', moment)
    .option('--ended <when>', 'when it was over', moment)
    .action(async (given: Given) => {
      const { interaction } = await service().recordInteraction({
        company_id: given.company,
        id: given.id ?? randomUUID(),
        channel: named(InteractionChannel, given.channel),
        direction: named(InteractionDirection, given.direction),
        outcome: given.outcome,
        summary: given.summary,
        account_id: given.account,
        contact_id: given.contact,
        handled_by_id: given.handledBy,
        started_at: given.started,
        ended_at: given.ended,
        service_request_id: given.request,
        job_id: given.job,
      });
      showInteraction(session, interaction);
    });

  command('complete', 'End an interaction.')
    .argument('<id>', 'id of the interaction')
    .option('--summary <text>', 'what was said')
    .option('--outcome <text>', 'what it led to')
    .option('--ended <when>', 'when it was over; now unless given', moment)
    .action(async (id: string, { company, summary, outcome, ended }: Given) => {
      const asked = { company_id: company, id, summary, outcome, ended_at: ended };
      showInteraction(session, (await service().completeInteraction(asked)).interaction);
    });
}

type Values = Readonly<Record<string, string>>;

const lower = (text: string): string => text.toLowerCase();

function choicesOf(values: Values): string[] {
  return Object.keys(values)
    .filter((name) => !/^UN(SPECIFIED|RECOGNIZED)$/.test(name))
    .map(lower);
}

function choice(flags: string, description: string, values: Values): Option {
  return new Option(flags, description).choices(choicesOf(values));
}

function named<V extends Values>(values: V, text: string | undefined): V[keyof V] {
  return values[(text ?? '').toUpperCase()] as V[keyof V];
}

function showRequest(session: Session, request: ServiceRequest | null | undefined): void {
  const fields = plain('truckroll.scheduling.v1.ServiceRequest', request ?? {});
  session.print(fields, card(fields));
}

function showInteraction(session: Session, interaction: Interaction | null | undefined): void {
  const fields = plain('truckroll.scheduling.v1.Interaction', interaction ?? {});
  session.print(fields, card(fields));
}
