// Real ids and values to replace those in samples, created or looked up for each sample.
import type { OperationView } from '../../gateway/docs/src/views.ts';
import { answerOf, ask, type Target } from './target.ts';

const HOOKS = '/api/v1/integrations/webhooks';
const KEYS = '/api/v1/integrations/api-keys';
const VIEWS = '/api/v1/integrations/views';
const NOTIFICATIONS = '/api/v1/integrations/notifications';

export interface StandIns {
  path?: Record<string, string>;
  body?: Record<string, string>;
  texts?: Record<string, string>;
}

/** Undefined when the system has no such record. */
export type Prepare = (operation: OperationView) => Promise<StandIns | undefined>;

export function standInsOf(target: Target): Prepare {
  const firstIds = new Map<string, Promise<string | undefined>>();
  const makeKey = async (): Promise<string> => (await ask(target, 'POST', KEYS, { name: 'Of a sample' })).id;
  const makeView = async (): Promise<string> =>
    (await ask(target, 'PUT', `${VIEWS}/${crypto.randomUUID()}`, { query: '/reports/receivables', shared: false })).name;
  const makeHook = async (): Promise<string> =>
    (await ask(target, 'POST', HOOKS, { name: 'Of a sample', url: 'https://hooks.example.com/samples', eventTypes: ['service_request.created'] })).id;
  const hooks: { shared?: Promise<{ webhookId: string; id: string }> } = {};
  const delivery = (): Promise<{ webhookId: string; id: string }> =>
    (hooks.shared ??= makeHook().then(async (webhookId) => ({ webhookId, id: (await ask(target, 'POST', `${HOOKS}/${webhookId}/test`)).id })));

  const addresses = async (): Promise<Record<string, string>> => ({ 'dana@example.com': (await ask(target, 'GET', '/api/v1/me')).email });

  /** Adds a technician to a visit, and notifies the customer. */
  async function notified(): Promise<string | undefined> {
    const { body } = (await write({ verb: 'POST' })) ?? {};
    if (body === undefined) return undefined;
    const { contact_id, ...addition } = body;
    return (await answerOf(target, 'POST', '/v1/job-assignments', { ...addition, customer_notification: { contact_id } }))['notification'].id;
  }

  async function write(operation: Pick<OperationView, 'verb'>): Promise<StandIns | undefined> {
    const visit = (await ask(target, 'GET', '/v1/job-appointments?limit=100')).find(
      (each: any) => !each.canceled && each.window_start_at !== null && each.job?.contact && each.assignments.length < 3,
    );
    if (visit === undefined) return undefined;
    const on = new Set(visit.assignments.map(({ team_member }: any) => team_member.id));
    const member = (await ask(target, 'GET', '/v1/team-members?limit=100&assignable=true')).find((each: any) => each.status === 'ACTIVE' && !on.has(each.id));
    if (member === undefined) return undefined;
    const body = {
      expected_revision: visit.revision,
      appointment_id: visit.id,
      team_member_id: member.id,
      starts_at: visit.window_start_at,
      ends_at: visit.window_end_at,
    };
    const contact_id: string = visit.job.contact.id;
    if (operation.verb === 'POST') return { body: { ...body, contact_id } };
    const changed = await ask(target, 'POST', '/v1/job-assignments', body);
    const added = changed.assignments.find(({ team_member }: any) => team_member.id === member.id);
    return { path: { id: added.id }, body: { expected_revision: changed.revision, contact_id } };
  }

  return async (operation) => {
    const { id: name, path, verb } = operation;
    if (operation.idempotent) return write(operation);
    if (path.startsWith(`${NOTIFICATIONS}/`)) return notified().then((id) => (id === undefined ? undefined : { path: { id } }));
    if (path.startsWith(`${KEYS}/`)) return { path: { id: await makeKey() } };
    if (path.startsWith(`${VIEWS}/`)) return { path: { name: await makeView() } };
    if (name === 'redeliverWebhooks') return delivery().then(({ webhookId }) => ({ path: { webhookId } }));
    if (path.includes('/deliveries')) return delivery().then(({ webhookId, id }) => ({ path: { webhookId, id, deliveryId: id } }));
    if (path === HOOKS) return { texts: await addresses() };
    if (path.startsWith(`${HOOKS}/`) && path.includes('{id}')) return { path: { id: await makeHook() }, texts: await addresses() };
    if (!path.endsWith('/{id}') || verb !== 'GET') return {};
    const list = path.replace('/{id}', '');
    let first = firstIds.get(list);
    if (first === undefined) firstIds.set(list, (first = ask(target, 'GET', `${list}?limit=1`).then((data) => data[0]?.id)));
    const id = await first;
    return id === undefined ? undefined : { path: { id } };
  };
}

const MADE = [HOOKS, KEYS, VIEWS];
/** The last segment of a record's path. A view has no id. */
const segmentOf = ({ id, name }: Record<string, string>): string => id ?? encodeURIComponent(name!);

export async function tidy(target: Target, before: ReadonlySet<string>): Promise<void> {
  for (const list of MADE) {
    for (const made of (await ask(target, 'GET', list)).map(segmentOf)) if (!before.has(made)) await ask(target, 'DELETE', `${list}/${made}`);
  }
}

export async function present(target: Target): Promise<Set<string>> {
  return new Set((await Promise.all(MADE.map((list) => ask(target, 'GET', list)))).flat().map(segmentOf));
}

/** A sample with its values replaced. Bodies have one member per line in every language. */
export function filledIn(code: string, { pathIds, target }: Pick<OperationView, 'pathIds' | 'target'>, { path = {}, body = {}, texts = {} }: StandIns): string {
  const real = pathIds.reduce((text, { name, example }) => (path[name] === undefined ? text : text.replace(`/${example}`, `/${path[name]}`)), target);
  const members = Object.entries(body).reduce(
    (text, [name, value]) => text.replace(new RegExp(`("${name}": )"[^"]*"`), `$1"${value}"`),
    Object.entries(texts).reduce((text, [shown, value]) => text.replaceAll(shown, value), code.replace(target, real)),
  );
  return members.replace(/(Idempotency-Key: )[\w-]+/, `$1${crypto.randomUUID()}`);
}
