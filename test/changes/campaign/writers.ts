// Writers that change a company in every way at once: imports, both writes of the API, intake, and simulated days.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { Refused, SchedulingApi, type Named, type Visit } from '../../../tools/cli/src/simulate/api.ts';
import { playDay } from '../../../tools/cli/src/simulate/day.ts';
import { importLines, type World } from './world.ts';

const IMPORTED_TOGETHER = 400;
const STAYS = 0.3;
/** Pause after a failure, in ms: what is down needs a moment to start. */
const PAUSE_MS = 100;
/** A simulated day takes about ten seconds. */
const DAY = { speed: 600, minutes: 100, requestsPerHour: 100 };

/** Writes until at least `changes` were acknowledged and `goesOn` is false. Returns the number of changes, without those of derived fields. */
export async function write(world: World, changes: number, goesOn: () => boolean): Promise<number> {
  const stop = new AbortController();
  const api = new SchedulingApi({ baseUrl: world.installation.baseUrl, apiKey: world.company.apiKey, signal: stop.signal });
  const [visits, technicians] = await Promise.all([
    api.list<Visit>('/v1/job-appointments', { canceled: 'false' }),
    api.list<Named>('/v1/team-members', { status: 'ACTIVE', assignable: 'true' }),
  ]);
  let made = 0;
  const count = (more: number): void => void (made += more);
  const unfinished = (): boolean => made < changes || goesOn();
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    // A failed write may have changed something: that is in the export.
    while (unfinished()) await work().catch(() => delay(PAUSE_MS));
  };
  const writers = [
    () => importSome(world, count),
    () => importSome(world, count),
    () => assign(world, api, visits, technicians, count),
    () => request(world, count),
  ].map(repeat);
  const day = repeat(() => simulate(world, api, stop.signal, count));
  await Promise.all(writers);
  stop.abort();
  await day;
  return made;
}

/** Imports some records again with other values, so that derived fields of others change too. */
async function importSome(world: World, count: (more: number) => void): Promise<void> {
  const { chance, lines } = world;
  const paths = [...lines].filter(([path, records]) => path === 'payments' || records.some(({ updated_at: at }) => at != null)).map(([path]) => path);
  const path = chance.happens(0.3) ? 'payments' : chance.one(paths);
  const from = chance.below(lines.get(path)!.length);
  const chosen = lines.get(path)!.slice(from, from + 1 + chance.below(IMPORTED_TOGETHER));
  const changed = chosen.map((record) =>
    path === 'payments' ? { ...record, status: chance.one(['PAID', 'PENDING']) } : { ...record, updated_at: new Date().toISOString() },
  );
  count((await importLines(world, path, changed)).changed);
}

async function assign(
  { chance, acknowledged }: World,
  api: SchedulingApi,
  visits: readonly Visit[],
  technicians: readonly Named[],
  count: (more: number) => void,
): Promise<void> {
  const [visit, technician] = [chance.one(visits), chance.one(technicians)];
  const stays = chance.happens(STAYS);
  const changed = await api.add(visit, technician.id, false);
  count(1);
  if (stays) return;
  const { id } = changed.assignments.find(({ team_member }) => team_member.id === technician.id)!;
  await api.remove(changed, id);
  acknowledged.removed.set(`job-assignments/${id}`, Date.now());
  count(1);
}

/** Without an account: nothing else changes the request afterwards. */
async function request({ installation, company, acknowledged }: World, count: (more: number) => void): Promise<void> {
  const intake = installation.channel('scheduling').client(IntakeServiceService);
  const of = { company_id: company.id, id: randomUUID() };
  await intake.recordServiceRequest({ ...of, channel: ServiceRequestChannel.PHONE, summary: 'No heat' });
  await intake.changeServiceRequestStatus({ ...of, status: ServiceRequestStatus.CONTACTED });
  acknowledged.complete.set(`service-requests/${of.id}`, Date.now());
  count(2);
}

async function simulate({ installation, chance }: World, api: SchedulingApi, signal: AbortSignal, count: (more: number) => void): Promise<void> {
  const intake = refusing(installation.channel('scheduling').client(IntakeServiceService));
  const { requests, interactions, booked, added, removed, completed, ended } = await playDay({ ...DAY, api, intake, chance, signal, say: () => undefined });
  count(requests + interactions + booked + added + removed + completed + ended);
}

/** A failed call ends the scenario, not the day. */
function refusing<T extends object>(calls: T): T {
  const refused = (error: Error): never => {
    throw new Refused(error.message);
  };
  const each = Object.entries(calls).map(([name, call]) => [name, (...input: unknown[]) => call(...input).catch(refused)]);
  return Object.fromEntries(each) as T;
}
