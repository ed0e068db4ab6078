// Reads the final state: scheduling's tables, its topics, and the differences in reporting's read models.
import { resource, topics, type TopicDefinition } from '@truckroll/contract';
import { ServiceRequestCreated, ServiceRequestStatusChanged } from '@truckroll/contract/gen/events/v1/public_events';
import { VisitAssignmentChanged } from '@truckroll/contract/gen/events/v1/visit_events';
import { AddAssignmentResponse } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { IncomingEvent } from '../../../packages/outbox/src/index.ts';
import { READ_MODELS, compareReadModel } from '../../../tools/cli/src/verify/compare.ts';
import type { TestCompany } from '../../support/company.ts';
import type { Running } from '../system/prepared.ts';
import { readTopic, type TopicContent } from '../system/topic.ts';
import type {
  Observed,
  PublishedEvent,
  RequestEvent,
  StoredAssignment,
  StoredKey,
  StoredNotification,
  StoredRequest,
  StoredVisit,
  VisitEvent,
} from './observed.ts';

type Source = Pick<Running, 'database' | 'kafka' | 'channel'>;

/** `content`: all of a topic, if other databases have published to it too. */
export async function observe(
  source: Source,
  company: TestCompany,
  before: readonly StoredVisit[],
  wrongReadModels: readonly string[],
  content: (topic: TopicDefinition) => Promise<TopicContent> = (topic) => readTopic(source.kafka, topic),
): Promise<Observed> {
  const { database } = source;
  const of = [company.id];
  const [visits, assignments, keys, requests, notifications, [outbox]] = await Promise.all([
    readVisits(source, company),
    rows<StoredAssignment>(`select id, appointment_id as "visitId", team_member_id as "technicianId", encode(document, 'hex') as document
      from scheduling.job_assignments where company_id = $1`),
    rows<{ key: string; status: number | null; location: string | null; response: Buffer | null }>(
      'select key, status, location, response from scheduling.idempotency_keys where company_id = $1',
    ),
    rows<{ id: string; document: Buffer; event_sequence: number }>(
      'select id, document, event_sequence from scheduling.service_requests where company_id = $1',
    ),
    rows<StoredNotification>(`select id, appointment_id as "visitId", revision, status from scheduling.notifications where company_id = $1`),
    rows<{ count: number }>('select count(*) from scheduling.outbox where company_id = $1'),
  ]);
  const [visitEvents, assignmentEvents, requestEvents] = [
    await content(topics.scheduling),
    await content(topics.assignments),
    await content(topics.serviceRequests),
  ];
  return {
    before,
    visits,
    assignments,
    notifications,
    wrongReadModels,
    keys: keys.map(storedKey),
    requests: requests.map(storedRequest),
    visitEvents: ofCompany(visitEvents).map(visitEvent),
    assignmentEvents: ofCompany(assignmentEvents).map(publishedEvent),
    requestEvents: ofCompany(requestEvents).map(requestEvent),
    unreadable: visitEvents.unreadable + assignmentEvents.unreadable + requestEvents.unreadable,
    unpublished: outbox!.count,
  };

  function ofCompany({ events }: TopicContent): IncomingEvent[] {
    return events.filter(({ companyId }) => companyId === company.id);
  }

  async function rows<R>(text: string): Promise<R[]> {
    return (await database.query<R>({ text, values: of })).rows;
  }
}

export async function readVisits({ database }: Source, company: TestCompany): Promise<StoredVisit[]> {
  const { rows } = await database.query<{ id: string; derived: Buffer; event_sequence: number }>({
    text: 'select id, derived, event_sequence from scheduling.job_appointments where company_id = $1',
    values: [company.id],
  });
  return rows.map(({ id, derived, event_sequence }) => {
    const { revision, assignments } = Visit.decode(derived);
    return { id, revision, sequence: event_sequence, assignments: new Map(assignments.map((one) => [one.id, one.team_member?.id ?? ''])) };
  });
}

export async function compareReadModels(source: Source, { id, timezone }: TestCompany): Promise<string[]> {
  const reporting = source.channel('reporting');
  const results = await Promise.all(
    READ_MODELS.map((path) => compareReadModel({ owner: source.channel(resource(path).owner as 'billing' | 'scheduling'), reporting }, { id, timezone }, path)),
  );
  return results.flatMap(({ differences }) => differences.map((one) => `${one.path} ${one.id}: ${one.reason}`));
}

export function publishedEvent({ id, type, key, sequence, version, partition, payload }: IncomingEvent): PublishedEvent {
  return { id, type, key, sequence, version, partition, payload: payload && payload.toString('hex') };
}

function visitEvent(event: IncomingEvent): VisitEvent {
  const { visit_id, assignment, revision } = VisitAssignmentChanged.decode(event.payload!);
  const common = { visitId: visit_id, revision, assignmentId: assignment?.id ?? '', technicianId: assignment?.team_member?.id ?? '' };
  return { ...publishedEvent(event), ...common, added: event.type === 'visit.assignment_added' };
}

/** Decoded as ServiceRequestCreated, whose fields all three types of service-request events have. */
function requestEvent(event: IncomingEvent): RequestEvent {
  const subject = event.key.slice(event.key.indexOf('/') + 1);
  if (!event.type.startsWith('service_request.')) return { ...publishedEvent(event), subject, status: undefined, previous: undefined };
  const { data } = ServiceRequestCreated.decode(event.payload!);
  const changed = event.type === 'service_request.status_changed' ? ServiceRequestStatusChanged.decode(event.payload!).data : undefined;
  return { ...publishedEvent(event), subject, status: data?.status, previous: changed?.previous_status };
}

function storedKey({ key, status, location, response }: { key: string; status: number | null; location: string | null; response: Buffer | null }): StoredKey {
  const visit = response === null ? undefined : AddAssignmentResponse.decode(response).data;
  return { key, status, location, visitId: visit?.id, revision: visit?.revision };
}

function storedRequest({ id, document, event_sequence }: { id: string; document: Buffer; event_sequence: number }): StoredRequest {
  const { status, appointment_id } = ServiceRequest.decode(document);
  return { id, status, visitId: appointment_id ?? undefined, sequence: event_sequence };
}
