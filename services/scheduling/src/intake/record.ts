// Recording a service request: once per id, whoever asks how often.
import { createHash } from 'node:crypto';
import { checkEndsAfterStart, now } from '@truckroll/contract';
import { RecordServiceRequestRequest, type RecordServiceRequestResponse } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequest, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { append } from '@truckroll/outbox';
import { isUniqueViolation, type Queryable, type Transaction } from '@truckroll/service-kit';
import { serviceRequestEvents } from './events.ts';
import type { IntakeServices } from './intake.ts';
import { referencesTo, requireRecords } from './references.ts';
import { checked, refused } from './requests.ts';
import { taken } from './states.ts';

/** The service request as it was first recorded. Errors: 400; 409 where the id has another one. */
export async function recordServiceRequest({ database, poke }: IntakeServices, asked: RecordServiceRequestRequest): Promise<RecordServiceRequestResponse> {
  const request = checked('RecordServiceRequestRequest', asked);
  const { requested_starts_at: starts_at, requested_ends_at: ends_at } = request;
  if (checkEndsAfterStart({ starts_at, ends_at }).length > 0) throw refused('requested_ends_at', 'Give an end that is after requested_starts_at.', 'RANGE_ORDER');
  const fingerprint = createHash('sha256').update(RecordServiceRequestRequest.encode(request).finish()).digest();
  const known = await recorded(database, request, fingerprint);
  if (known !== undefined) return { service_request: known };
  try {
    const service_request = await database.transaction((tx) => insert(tx, request, fingerprint), { retryContention: true });
    poke();
    return { service_request };
  } catch (error) {
    // Somebody else recorded it meanwhile.
    const theirs = isUniqueViolation(error) ? await recorded(database, request, fingerprint) : undefined;
    if (theirs === undefined) throw error;
    return { service_request: theirs };
  }
}

async function recorded(from: Queryable, { company_id, id }: RecordServiceRequestRequest, fingerprint: Buffer): Promise<ServiceRequest | undefined> {
  const { rows } = await from.query<{ fingerprint: Buffer; recorded: Buffer }>({
    name: 'recorded_service_request',
    text: 'select fingerprint, recorded from service_requests where company_id = $1 and id = $2',
    values: [company_id, id],
  });
  const [row] = rows;
  if (row !== undefined && !row.fingerprint.equals(fingerprint)) throw taken('service request');
  return row && ServiceRequest.decode(row.recorded);
}

async function insert(tx: Transaction, request: RecordServiceRequestRequest, fingerprint: Buffer): Promise<ServiceRequest> {
  const { company_id: companyId, id, channel, summary, contact_name, contact_phone, contact_email, location_id } = request;
  const references = await referencesTo(tx, companyId, {
    account: request.account_id, business_unit: request.business_unit_id, job_type: request.job_type_id, lead_source: request.lead_source_id,
  });
  await requireRecords(tx, companyId, { location_id });
  const at = now();
  const data: ServiceRequest = {
    id, number: await nextNumber(tx, companyId), status: ServiceRequestStatus.NEW, channel, summary, contact_name, contact_phone, contact_email,
    location_id, ...references, requested_starts_at: request.requested_starts_at, requested_ends_at: request.requested_ends_at,
    created_at: at, updated_at: at,
  };
  const document = Buffer.from(ServiceRequest.encode(data).finish());
  await tx.query({
    name: 'insert_service_request',
    text: `insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded) values ($1, $2, 1, $3, $4, $3)`,
    values: [companyId, id, document, fingerprint],
  });
  await append(tx, serviceRequestEvents(companyId, 0, at, [{ type: 'service_request.created', data }]));
  return data;
}

/** Held until the transaction ends: numbers have no gaps, and a company's requests are recorded one after the other. */
async function nextNumber(tx: Transaction, companyId: string): Promise<string> {
  const { rows } = await tx.query<{ latest: number }>({
    name: 'next_service_request_number',
    text: `insert into service_request_numbers as n (company_id, latest) values ($1, 1)
      on conflict (company_id) do update set latest = n.latest + 1 returning latest`,
    values: [companyId],
  });
  return `SR-${rows[0]?.latest}`;
}
