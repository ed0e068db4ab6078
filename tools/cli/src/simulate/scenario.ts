// The life of one service request. Probabilities and durations are invented to look like a day at the dispatch desk.
import { randomUUID } from 'node:crypto';
import { now } from '@truckroll/contract';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus, type ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Named, Visit } from './api.ts';
import type { Scene } from './scene.ts';

const WISHES = [
  'AC not cooling',
  'No hot water',
  'Furnace makes a banging noise',
  'Kitchen drain is clogged',
  'Quote for a new heat pump',
  'Thermostat is blank',
  'Water under the sink',
];
const CHANNELS = [ServiceRequestChannel.PHONE, ServiceRequestChannel.PHONE, ServiceRequestChannel.WEB, ServiceRequestChannel.SMS, ServiceRequestChannel.EMAIL];
const ENDS = [
  { status: ServiceRequestStatus.CLOSED, reason: 'Wanted a price only' },
  { status: ServiceRequestStatus.CANCELED, reason: 'Fixed it themselves' },
];
const SECOND = 1_000_000;

export async function scenario(scene: Scene): Promise<void> {
  const { chance, clock, tally, say } = scene;
  const request = await arrive(scene);
  await talk(scene, request);
  await move(scene, request, ServiceRequestStatus.CONTACTED);
  if (chance.happens(0.15)) {
    const { status, reason } = chance.one(ENDS);
    await move(scene, request, status, reason);
    tally.ended += 1;
    return;
  }
  await clock.wait(chance.between(2, 20));
  const visit = scene.freeVisit();
  if (visit === undefined) return say(`${request.number} finds no visit that can still be staffed`);
  await book(scene, request, visit);
  await staff(scene, request, visit);
  if (!chance.happens(0.3)) return;
  await clock.wait(chance.between(45, 120));
  await move(scene, request, ServiceRequestStatus.COMPLETED);
  tally.completed += 1;
}

async function arrive({ intake, companyId, chance, accounts, tally, say }: Scene): Promise<ServiceRequest> {
  const account = chance.one(accounts);
  const [channel, summary] = [chance.one(CHANNELS), chance.one(WISHES)];
  const answer = await intake.recordServiceRequest({ company_id: companyId, id: randomUUID(), channel, summary, account_id: account.id });
  const request = answer.service_request as ServiceRequest;
  tally.requests += 1;
  say(`${request.number} arrives by ${channel.replace('SERVICE_REQUEST_CHANNEL_', '').toLowerCase()}: ${summary} (${account.name})`);
  return request;
}

/** Phone calls are answered at once; all other requests are called back. */
async function talk({ intake, companyId, chance, clock, technicians, tally, say }: Scene, request: ServiceRequest): Promise<void> {
  const inbound = request.channel === ServiceRequestChannel.PHONE;
  if (!inbound) await clock.wait(chance.between(5, 30));
  const began = clock.minutes;
  const [id, started_at] = [randomUUID(), now()];
  const of = { company_id: companyId, id };
  await intake.recordInteraction({
    ...of,
    channel: InteractionChannel.CALL,
    direction: inbound ? InteractionDirection.INBOUND : InteractionDirection.OUTBOUND,
    account_id: request.account?.id,
    handled_by_id: chance.one(technicians).id,
    started_at,
    service_request_id: request.id,
  });
  await clock.wait(chance.between(3, 9));
  // Real seconds equal to the simulated ones, so that receivers see a plausible call.
  const lasted = Math.round((clock.minutes - began) * 60);
  await intake.completeInteraction({ ...of, outcome: 'Talked about what is needed', ended_at: started_at + lasted * SECOND });
  tally.interactions += 1;
  say(`${request.number} ${inbound ? 'called' : 'was called back'}; they talked for ${Math.max(1, Math.round(lasted / 60))} min`);
}

async function move({ intake, companyId, say }: Scene, request: ServiceRequest, status: ServiceRequestStatus, closed_reason?: string): Promise<void> {
  await intake.changeServiceRequestStatus({ company_id: companyId, id: request.id, status, closed_reason });
  say(`${request.number} is ${status.replace('SERVICE_REQUEST_STATUS_', '')}${closed_reason === undefined ? '' : `: ${closed_reason}`}`);
}

async function book({ intake, companyId, tally, say }: Scene, request: ServiceRequest, visit: Visit): Promise<void> {
  await intake.bookServiceRequest({ company_id: companyId, id: request.id, job_id: visit.job_id, appointment_id: visit.id });
  tally.booked += 1;
  say(`${request.number} is booked on visit ${visit.number}`);
}

async function staff(scene: Scene, request: ServiceRequest, booked: Visit): Promise<void> {
  const { chance, clock } = scene;
  const free = scene.technicians.filter(({ id }) => booked.assignments.every(({ team_member }) => team_member.id !== id));
  if (free.length === 0) return;
  await clock.wait(chance.between(5, 40));
  const first = chance.one(free);
  let visit = await add(scene, request, booked, first);
  if (chance.happens(0.3)) {
    await clock.wait(chance.between(5, 30));
    visit = await remove(scene, request, visit, first);
    await clock.wait(chance.between(1, 10));
    visit = await add(scene, request, visit, chance.one(free));
  }
  const others = free.filter(({ id }) => visit.assignments.every(({ team_member }) => team_member.id !== id));
  if (others.length > 0 && chance.happens(0.15)) await add(scene, request, visit, chance.one(others));
}

async function add({ api, chance, tally, say }: Scene, request: ServiceRequest, visit: Visit, technician: Named): Promise<Visit> {
  const changed = await api.add(visit, technician.id, chance.happens(0.3));
  tally.added += 1;
  say(`${request.number}: ${technician.name} is put on visit ${visit.number}`);
  return changed;
}

async function remove({ api, tally, say }: Scene, request: ServiceRequest, visit: Visit, technician: Named): Promise<Visit> {
  const assignment = visit.assignments.find(({ team_member }) => team_member.id === technician.id);
  if (assignment === undefined) return visit;
  const changed = await api.remove(visit, assignment.id);
  tally.removed += 1;
  say(`${request.number}: ${technician.name} is taken off visit ${visit.number}`);
  return changed;
}
