// Records service requests, once per id however often they are sent.
import { createHash } from 'node:crypto';
import { formatInstant, now } from '@truckroll/contract';
import { RecordServiceRequestRequest, type RecordServiceRequestResponse } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequest, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { appendingRows, isErased, madeColumns, wasErased } from '@truckroll/outbox';
import { isUniqueViolation, type CompanyDatabase, type Queryable, type Statement } from '@truckroll/postgres';
import type { Recorded, Recording } from './batch.ts';
import { serviceRequestCreated } from './events.ts';
import type { IntakeServices } from './services.ts';
import { referencesTo, requireRecords } from './references.ts';
import { checked } from './requests.ts';
import { taken } from './states.ts';
import { serviceRequests } from './tables.ts';

interface RecordingServices extends IntakeServices {
  recordBatched(recording: Recording): Promise<Recorded | undefined>;
}

/** Returns the service request as first recorded. Errors: 400; 409 if the id was used for a different one. */
export async function recordServiceRequest(services: RecordingServices, asked: RecordServiceRequestRequest): Promise<RecordServiceRequestResponse> {
  const { database, poke } = services;
  const request = checked('RecordServiceRequestRequest', asked);
  const company = database.of(request.company_id);
  const fingerprint = createHash('sha256').update(RecordServiceRequestRequest.encode(request).finish()).digest();
  // A repeated request is answered even if its references no longer exist. Without references, recording finds out that it is repeated.
  const known = refers(request) ? await recorded(company, request, fingerprint) : undefined;
  if (known !== undefined) return { service_request: known };
  try {
    const service_request = await insert(services, company, request, fingerprint);
    poke();
    return { service_request };
  } catch (error) {
    const theirs = isUniqueViolation(error) ? await recorded(company, request, fingerprint) : undefined;
    if (theirs === undefined) throw error;
    return { service_request: theirs };
  }
}

const refers = ({ account_id, business_unit_id, job_type_id, lead_source_id, location_id }: RecordServiceRequestRequest): boolean =>
  [account_id, business_unit_id, job_type_id, lead_source_id, location_id].some((id) => id != null);

async function recorded(from: Queryable, { company_id, id }: RecordServiceRequestRequest, fingerprint: Buffer): Promise<ServiceRequest | undefined> {
  const { rows } = await from.query<{ fingerprint: Buffer; recorded: Buffer }>({
    name: 'recorded_service_request',
    text: 'select fingerprint, recorded from service_requests where company_id = $1 and id = $2',
    values: [company_id, id],
  });
  return rows[0] && asRecorded(rows[0], fingerprint);
}

function asRecorded(row: { fingerprint: Buffer; recorded: Buffer }, fingerprint: Buffer): ServiceRequest {
  if (!row.fingerprint.equals(fingerprint)) throw taken('service request');
  return ServiceRequest.decode(row.recorded);
}

/** References need no lock, so they are read first. The transaction is one round trip, with the company's number as its only contended lock. */
async function insert(
  { recordBatched }: RecordingServices,
  company: CompanyDatabase,
  request: RecordServiceRequestRequest,
  fingerprint: Buffer,
): Promise<ServiceRequest> {
  const { company_id: companyId, id, channel, summary, contact_name, contact_phone, contact_email, location_id } = request;
  const references = await referencesTo(company, companyId, {
    account: request.account_id,
    business_unit: request.business_unit_id,
    job_type: request.job_type_id,
    lead_source: request.lead_source_id,
  });
  await requireRecords(company, companyId, { location_id });
  const at = now();
  const data: ServiceRequest = {
    id,
    number: '',
    status: ServiceRequestStatus.NEW,
    channel,
    summary,
    contact_name,
    contact_phone,
    contact_email,
    location_id,
    ...references,
    requested_starts_at: request.requested_starts_at,
    requested_ends_at: request.requested_ends_at,
    created_at: at,
    updated_at: at,
  };
  const recording = recordingOf(companyId, data, fingerprint);
  const outcome = await recordBatched(recording);
  if (outcome !== undefined) return 'number' in outcome ? { ...data, number: outcome.number } : asRecorded(outcome, fingerprint);
  const [stored] = await company.transaction((tx) => tx.finish([storing(recording)]));
  const number = (stored as { rows: { number: string }[] }).rows[0]?.number;
  if (number === undefined) throw wasErased();
  return { ...data, number };
}

const NUMBER_TAG = 0x12;
const MOST_NUMBER_BYTES = 32;

function recordingOf(companyId: string, data: ServiceRequest, fingerprint: Buffer): Recording {
  const whole = ServiceRequest.encode(data).finish();
  const after = ServiceRequest.encode({ ...data, id: '' }).finish();
  const before = Buffer.concat([whole.subarray(0, whole.length - after.length), Buffer.of(NUMBER_TAG)]);
  const { event, head } = serviceRequestCreated(companyId, data.id, data.created_at);
  const most = head.length + whole.length + MOST_NUMBER_BYTES;
  return { companyId, id: data.id, createdAt: data.created_at, before, after: Buffer.from(after), fingerprint, head, event: madeColumns(event, most) };
}

/** Numbers have no gaps: each recording waits a moment for the previous one to commit. A deleted company gets none. */
function storing({ companyId, id, createdAt, before, after, fingerprint, head, event }: Recording): Statement {
  const { event_id, topic, key, type, sequence, trace, request_id } = event;
  return {
    name: 'record_service_request',
    text: `with numbered as (
        insert into service_request_numbers as n (company_id, latest) select $1::uuid, 1 where not ${isErased('$1::uuid')}
        on conflict (company_id) do update set latest = n.latest + 1 returning 'SR-' || latest as number),
      record as (select number, $3::bytea || length_delimited(convert_to(number, 'UTF8')) || $4::bytea as document from numbered),
      stored as (
        insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded, unbooked, status, created_at, projection)
        select $1, $2, 1, document, $5, document, true, '${ServiceRequestStatus.NEW}', $14::timestamptz, ${serviceRequests.version} from record),
      event as (
        select $1::uuid as company_id, $7::uuid as event_id, $8::text as topic, $9::text as key, $10::text as type, $11::bigint as sequence,
          $12::text as trace, $13::uuid as request_id, $6::bytea || length_delimited(document) as payload
        from record),
      appended as (${appendingRows('event', 'event_id')})
      select number from numbered`,
    values: [companyId, id, before, after, fingerprint, head, event_id, topic, key, type, sequence, trace, request_id, formatInstant(createdAt)],
  };
}
