// Adds a technician to a visit, repeats the request under its key, and removes the assignment.
import { parsed, type Answer, type Ask, type Client, type Operation, type Turn, type Visit, type World } from './api.ts';

/** Attempts at one write, all under the same key. */
const SENDS = 3;

export async function write(client: Client, { credentials: { usual: credential }, run, places }: World, { number }: Turn): Promise<void> {
  const place = places[number % places.length];
  if (place === undefined) return;
  const seen = await client.ask('visit', { path: `/v1/job-appointments/${place.visitId}`, credential, expect: [200] });
  if (seen.status !== 200) return;
  const assignedTo = ({ assignments }: Visit) => assignments.find(({ team_member }) => team_member.id === place.technicianId);
  let visit = visitOf(seen);
  // What an earlier iteration could not remove is removed, and nothing is added.
  if (assignedTo(visit) === undefined) {
    const { revision: expected_revision, window_start_at: starts_at, window_end_at: ends_at } = visit;
    const body = { expected_revision, appointment_id: place.visitId, team_member_id: place.technicianId, starts_at, ends_at };
    const idempotencyKey = `${run}-add-${number}`;
    const addition: Ask = { method: 'POST', path: '/v1/job-assignments', credential, body, idempotencyKey, expect: [201, 409] };
    const added = await retryBusy(client, 'add', addition);
    if (added.status !== 201) return;
    const replayed = await client.ask('replay', { ...addition, expect: [201] });
    visit = visitOf(added);
    if (replayed.status === 201) {
      if (replayed.header('idempotent-replayed') !== 'true') client.wrong('replay', 'the answer does not say Idempotent-Replayed: true');
      if (visitOf(replayed).revision !== visit.revision) client.wrong('replay', 'the repetition shows another visit');
    }
  }
  const assignment = assignedTo(visit);
  if (assignment === undefined) return client.wrong('add', 'the technician is not on the visit');
  await retryBusy(client, 'remove', {
    method: 'DELETE',
    path: `/v1/job-assignments/${assignment.id}`,
    credential,
    body: { expected_revision: visit.revision },
    idempotencyKey: `${run}-remove-${number}`,
    expect: [200, 409],
  });
}

/** Retries a write that was rejected for now or not answered, under its key, so that it takes effect once. */
async function retryBusy(client: Client, operation: Operation, ask: Ask): Promise<Answer> {
  let answer = await client.ask(operation, ask);
  for (let sends = 1; sends < SENDS && (answer.status === 0 || answer.status === 429 || answer.status === 503); sends++) {
    await client.pause(pauseOf(answer.header('retry-after')));
    answer = await client.ask(operation, ask);
  }
  return answer;
}

/** Seconds that Retry-After, a number or a date, asks for; at most 2, and 1 without it. */
function pauseOf(retryAfter = '1'): number {
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? 1 : Math.min(2, Math.max(0, seconds));
}

function visitOf(answer: Answer): Visit {
  return parsed<{ data: Visit }>(answer).data;
}
