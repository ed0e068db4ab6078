// Reads the world of the scenarios from the API before the load, and removes what the load left behind.
import { DETAILS } from './reads.ts';
import { ENDPOINTS, endpointName } from './webhooks.ts';
import { type Ask, type Credentials, type Place, type Visit, type World } from './api.ts';

/** Sends a request that is not counted. Throws if the status is not an expected one. */
export type Send = (ask: Ask) => Promise<string>;

/** Visits that are written to in turn: enough that one is finished before its turn comes again. */
const PLACES = 500;
const PAGE = 100;

export async function discover(send: Send, credentials: Credentials, run: string): Promise<World> {
  const { usual } = credentials;
  const startedAt = new Date().toISOString();
  const ids: Record<string, string[]> = {};
  for (const path of DETAILS) ids[path] = (await records<{ id: string }>(send, usual, `/v1/${path}?limit=${PAGE}`)).map(({ id }) => id);
  return { run, startedAt, credentials, ids, places: await findPlaces(send, usual), period: await periodOf(send, usual) };
}

/** The year after that of the first listed invoice, or after this year if there are no invoices. */
async function periodOf(send: Send, key: string): Promise<World['period']> {
  const [first] = await records<{ created_at: string }>(send, key, '/v1/invoices?limit=1');
  const year = Number((first?.created_at ?? new Date().toISOString()).slice(0, 4)) + 1;
  return { start: `${year}-01-01`, end: `${year + 1}-01-01` };
}

/** Finds visits that can be staffed, each with a technician not yet assigned to it. */
async function findPlaces(send: Send, key: string): Promise<Place[]> {
  const technicians = await records<{ id: string }>(send, key, `/v1/team-members?limit=${PAGE}&status=ACTIVE&assignable=true`);
  const places: Place[] = [];
  let path: string | undefined = `/v1/job-appointments?limit=${PAGE}&canceled=false&dispatch_status=UNASSIGNED&dispatch_status=ASSIGNED`;
  while (path !== undefined && places.length < PLACES && technicians.length > 0) {
    const page: Page<Visit> = await pageOf(send, key, path);
    for (const { id, assignments } of page.data) {
      const free = technicians.filter((technician) => !assignments.some(({ team_member }) => team_member.id === technician.id));
      const chosen = free[places.length % Math.max(1, free.length)];
      if (chosen !== undefined && places.length < PLACES) places.push({ visitId: id, technicianId: chosen.id });
    }
    path = page.pagination.next_cursor === null ? undefined : `${path.replace(/&cursor=.*$/, '')}&cursor=${page.pagination.next_cursor}`;
  }
  return places;
}

/** Removes assignments that this run added to the chosen visits, and its webhook endpoints. Resolves to the number removed. */
export async function tidy(send: Send, { credentials: { usual: credential, userToken }, run, places, startedAt }: World): Promise<number> {
  let removed = 0;
  for (let at = 0; at < places.length; at += PAGE) {
    const chunk = places.slice(at, at + PAGE);
    const visits = await records<Visit>(send, credential, `/v1/job-appointments?limit=${PAGE}&${chunk.map(({ visitId }) => `ids=${visitId}`).join('&')}`);
    for (const { id, assignments, revision } of visits) {
      const place = chunk.find(({ visitId }) => visitId === id);
      const left = assignments.find(({ team_member, created_at }) => team_member.id === place?.technicianId && created_at >= startedAt);
      if (left === undefined) continue;
      const [path, idempotencyKey] = [`/v1/job-assignments/${left.id}`, `${run}-tidy-${left.id}`];
      await send({ method: 'DELETE', path, credential, body: { expected_revision: revision }, idempotencyKey, expect: [200, 409] });
      removed += 1;
    }
  }
  return userToken === undefined ? removed : removed + (await removeEndpoints(send, userToken, run));
}

/** Removes a run's webhook endpoints, or those of every run. Resolves to the number removed. */
export async function removeEndpoints(send: Send, credential: string, run?: string): Promise<number> {
  const { data } = JSON.parse(await send({ path: ENDPOINTS, credential, expect: [200] })) as { data: { id: string; name: string }[] };
  const left = data.filter(({ name }) => run === undefined || name.startsWith(endpointName(run, '')));
  for (const { id } of left) await send({ method: 'DELETE', path: `${ENDPOINTS}/${id}`, credential, expect: [200, 204, 404] });
  return left.length;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function pageOf<T>(send: Send, credential: string, path: string): Promise<Page<T>> {
  return JSON.parse(await send({ path, credential, expect: [200] })) as Page<T>;
}

async function records<T>(send: Send, credential: string, path: string): Promise<readonly T[]> {
  return (await pageOf<T>(send, credential, path)).data;
}
