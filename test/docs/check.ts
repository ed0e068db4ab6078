// Checks the documentation against a running system: every sample runs, and every error is returned as shown.
import type { OperationView } from '../../gateway/docs/src/views.ts';
import { runSample } from './run-sample.ts';
import { filledIn, type Prepare, type StandIns } from './stand-ins.ts';
import type { Target } from './target.ts';

export async function checkSamples(operation: OperationView, target: Target, prepare: Prepare, languages: ReadonlySet<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const { label, language, code } of operation.samples) {
    if (!languages.has(language)) continue;
    const standIns = await prepare(operation);
    if (standIns === undefined) return [`${operation.id}: the system has nothing to try it on`];
    const { code: exit, stdout, stderr } = await runSample(filledIn(code, operation, standIns), language, target);
    if (exit !== 0) wrong.push(`${operation.id}, ${label}: ended with ${exit}\n${stdout}${stderr}`);
    else if (language === 'bash' && JSON.parse(stdout).data === undefined) wrong.push(`${operation.id}, ${label}: printed no answer but ${stdout}`);
  }
  return wrong;
}

export async function checkErrors(operation: OperationView, target: Target, prepare: Prepare): Promise<string[]> {
  const wrong: string[] = [];
  for (const { status, error } of operation.answers) {
    if (error?.request === undefined) continue;
    const standIns = await prepare(operation);
    if (standIns === undefined) return [`${operation.id}: the system has nothing to try it on`];
    const answer = await provoke(operation, standIns, error.request, target);
    const { code, message, details } = ((await answer.json()) as { error: Record<string, any> }).error;
    const shown = [Number(status), error.code, error.message, error.details.map(withoutRevision)];
    const came = [answer.status, code, message, details.map(withoutRevision)];
    if (JSON.stringify(shown) !== JSON.stringify(came))
      wrong.push(`${operation.id}: ${status} is shown as ${JSON.stringify(shown)} and came as ${JSON.stringify(came)}`);
  }
  return wrong;
}

/** The error's members in a fixed order, without the revision, which an example cannot know. */
function withoutRevision({ location, field, code, message }: Record<string, string>): unknown[] {
  return [location, field, code, message];
}

function provoke(
  operation: OperationView,
  { path = {}, body = {} }: StandIns,
  change: { query?: string; id?: string; credential?: 'none'; body?: object },
  { url, key, token }: Target,
): Promise<Response> {
  const { verb, pathIds, target, credential } = operation;
  let to = pathIds.reduce(
    (text, { name, example }, at) => text.replace(`/${example}`, `/${at === 0 ? (change.id ?? path[name] ?? example) : (path[name] ?? example)}`),
    target,
  );
  if (change.query !== undefined) to = `${to.replace(/[?&]limit=\d+$/, '')}${to.includes('?') && !/\?limit=\d+$/.test(to) ? '&' : '?'}${change.query}`;
  // Without a notification and alerts, for which no contact and no user has been prepared.
  const silent = known(operation, { customer_notification: null, alertEmails: [] });
  const sent = operation.body && { ...(operation.body.example as object), ...known(operation, body), ...silent, ...change.body };
  return fetch(url + to, {
    method: verb,
    headers: {
      ...(change.credential === 'none' ? {} : { authorization: `Bearer ${credential === 'token' ? token : key}` }),
      ...(sent && { 'content-type': 'application/json' }),
      ...(operation.idempotent && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(sent && { body: JSON.stringify(sent) }),
  });
}

function known({ body: described }: OperationView, body: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => described?.rows.some((row) => row.name === name)));
}
