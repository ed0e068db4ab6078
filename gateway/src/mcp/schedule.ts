// The tool that changes something: first a preview with a token, then the token alone carries it out (decisions §18).
import { createHash } from 'node:crypto';
import type { CursorScope, Cursors } from '../routes/cursor.ts';
import { failure, fenced, fittingLine, lineOf, refusal, retryOf, text, type ToolAnswer } from './answers.ts';
import type { Arguments } from './arguments.ts';
import type { InnerAnswer, Json } from './inner-requests.ts';
import { invalid, type ToolCall, type Tool } from './tools.ts';

const TOKEN_MS = 300_000;

/** What a token carries out. */
interface Sealed {
  method: 'POST' | 'DELETE';
  path: string;
  body: Json;
  expiresAt: number;
}

const ARGUMENTS: Arguments = {
  token: { type: 'string', description: 'from the preview, alone, after the user agreed' },
  action: { type: 'string', enum: ['add', 'remove'] },
  appointment_id: { type: 'string', description: 'the visit, to add' },
  team_member_id: { type: 'string' },
  starts_at: { type: 'string', description: 'UTC instant' },
  ends_at: { type: 'string' },
  assignment_id: { type: 'string', description: 'to remove' },
};
const NEEDED = { add: ['appointment_id', 'team_member_id', 'starts_at', 'ends_at'], remove: ['assignment_id'] };
const EXAMPLE = {
  action: 'add',
  appointment_id: '499ad732-81bf-46cb-851f-75e487e462b2',
  team_member_id: '6b1efe49-5d50-4c2f-8443-da774dfd0ecf',
  starts_at: '2026-03-02T14:00:00Z',
  ends_at: '2026-03-02T16:00:00Z',
};
const OF_VISIT = ['number', 'starts_at', 'ends_at', 'window_start_at', 'window_end_at', 'dispatch_status', 'assignments'];

/** A token is bound to its caller, and needs no store: the revision inside it and the Idempotency-Key make it act at most once. */
export function scheduleTool(cursors: Cursors): Tool {
  return {
    name: 'schedule',
    description: 'Add a technician to a visit or remove one. First answers a preview and a token; only the token, sent alone, changes anything, once.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    arguments: ARGUMENTS,
    example: EXAMPLE,
    run: (call) => (call.given['token'] === undefined ? preview(call, cursors) : carryOut(call, cursors)),
  };
}

async function preview(call: ToolCall, cursors: Cursors): Promise<ToolAnswer> {
  const { action, ...given } = call.given as { action?: keyof typeof NEEDED } & Record<string, string>;
  if (action === undefined) return invalid(['action is missing, or token.'], EXAMPLE);
  const faults = [
    ...NEEDED[action].filter((name) => given[name] === undefined).map((name) => `${name} is missing.`),
    ...Object.keys(given)
      .filter((name) => !NEEDED[action].includes(name))
      .map((name) => `${name} has no meaning for ${action}.`),
  ];
  if (faults.length > 0) return invalid(faults, EXAMPLE);

  /** A record by its id, or the refusal of its read. */
  const read = (collection: string, id: unknown): Promise<InnerAnswer> =>
    call.ask({ path: `/v1/${collection}/${encodeURIComponent(String(id).toWellFormed())}` });
  const subject = action === 'add' ? await read('team-members', given['team_member_id']) : await read('job-assignments', given['assignment_id']);
  if (subject.status !== 200) return refusal(subject, EXAMPLE);
  const record = subject.body.data as Json;
  const visit = await read('job-appointments', action === 'add' ? given['appointment_id'] : record['appointment_id']);
  if (visit.status !== 200) return refusal(visit, EXAMPLE);

  const { revision, ...shown } = visit.body.data as Json;
  const sealed: Sealed = {
    ...(action === 'add'
      ? { method: 'POST', path: '/v1/job-assignments', body: { expected_revision: revision, ...given } }
      : { method: 'DELETE', path: `/v1/job-assignments/${String(record['id'])}`, body: { expected_revision: revision } }),
    expiresAt: Date.now() + TOKEN_MS,
  };
  const token = cursors.seal(scopeOf(call), Buffer.from(JSON.stringify(sealed)));
  const lines = [
    `visit: ${fittingLine(shown, OF_VISIT)}`,
    action === 'add' ? `technician: ${lineOf(record, ['name'])}` : `assignment: ${lineOf(record, ['team_member', 'starts_at', 'ends_at'])}`,
  ];
  return text(
    `Preview, nothing is changed yet: ${action} ${JSON.stringify(given)}. The customer is not notified. Show it to the user. ` +
      `If they agree, call schedule with only this token within 5 minutes: ${token}\n${fenced(lines)}`,
  );
}

async function carryOut(call: ToolCall, cursors: Cursors): Promise<ToolAnswer> {
  const token = call.given['token'] as string;
  if (Object.keys(call.given).length > 1) return invalid(['token must be alone.'], { token: '…' });
  const opened = cursors.open(scopeOf(call), token);
  if (opened === undefined) return failure('This token is not one of this caller. Nothing was done. Ask for a preview.');
  const { expiresAt, ...request } = JSON.parse(opened.toString()) as Sealed;
  if (Date.now() > expiresAt) return failure('The token has expired. If the change was carried out, find shows it. Otherwise ask for a new preview.');
  const answer = await call.ask({ ...request, headers: { 'idempotency-key': createHash('sha256').update(token).digest('hex') } });
  if (answer.status >= 500 || answer.body.error?.code === 'IDEMPOTENCY_IN_PROGRESS')
    return failure(`It is not known whether the change was made. Call schedule with the same token: it acts once.${retryOf(answer)}`);
  if (answer.status >= 300) return refusal(answer, EXAMPLE);
  const again = answer.headers['idempotent-replayed'] === undefined ? '' : ' This token had done it before, and only once.';
  return text(`Done.${again}\n${fenced([fittingLine(answer.body.data as Json, OF_VISIT)])}`);
}

/** Tokens are sealed as cursors are, for one caller of one company. */
function scopeOf({ principal }: ToolCall): CursorScope {
  return { companyId: principal.company_id, operation: 'mcp schedule', filters: `${principal.kind} ${principal.key_id ?? principal.user_id}` };
}
