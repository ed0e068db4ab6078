// Sends one request over HTTP and records the outcome. Never rejects: a missing answer is an outcome, too.
import type { Answer, Attempt, Write } from './history.ts';

export interface SenderOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly unread?: (reason: string) => void;
}

const LONGEST_ANSWER_MS = 12_000;
const TIMES = { starts_at: '2026-03-02T15:00:00Z', ends_at: '2026-03-02T16:00:00Z' };

/** Sends a write; the client hangs up after `hangUpMs`. */
export async function send({ baseUrl, apiKey }: SenderOptions, key: string, write: Write, hangUpMs = LONGEST_ANSWER_MS): Promise<Attempt> {
  const invokedAt = performance.now();
  const ended = (outcome: Pick<Attempt, 'answer' | 'lost'>): Attempt => ({ key, write, invokedAt, endedAt: performance.now(), ...outcome });
  const common = { expected_revision: write.expectedRevision, customer_notification: write.notify ? {} : null };
  const [method, path, body] =
    write.kind === 'add'
      ? ['POST', '/v1/job-assignments', { ...common, ...TIMES, appointment_id: write.visitId, team_member_id: write.technicianId }]
      : ['DELETE', `/v1/job-assignments/${write.assignmentId}`, common];
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(hangUpMs),
    });
    return ended({ answer: answerOf(response, (await response.json()) as Body) });
  } catch (error) {
    return ended({ lost: reasonOf(error) });
  }
}

interface Body {
  data?: { revision: string };
  notification?: object;
  error?: { code: string; details: { reason?: string; current_revision?: string }[] };
}

function answerOf({ status, headers }: Response, { data, notification, error }: Body): Answer {
  const detail = error?.details[0];
  return {
    status,
    replayed: headers.get('idempotent-replayed') === 'true',
    location: headers.get('location') ?? undefined,
    revision: data?.revision,
    said: data && JSON.stringify([data, notification]),
    code: error?.code,
    reason: detail?.reason,
    currentRevision: detail?.current_revision,
  };
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  return `${name}: ${(cause as Error | undefined)?.message ?? message}`;
}

export interface SeenVisit {
  revision: string;
  assignments: Map<string, string>;
}

/** Reads a visit; undefined when it cannot be read now. */
export async function readVisit({ baseUrl, apiKey, unread }: SenderOptions, id: string): Promise<SeenVisit | undefined> {
  try {
    const response = await fetch(`${baseUrl}/v1/job-appointments/${id}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
    });
    if (response.ok) return seen(((await response.json()) as { data: ReadVisit }).data);
    unread?.(`${response.status} ${await response.text()}`);
  } catch (error) {
    unread?.(reasonOf(error));
  }
  return undefined;
}

export interface ReadVisit {
  revision: string;
  assignments: { id: string; team_member: { id: string } }[];
}

export function seen({ revision, assignments }: ReadVisit): SeenVisit {
  return { revision, assignments: new Map(assignments.map(({ id, team_member }) => [team_member.id, id])) };
}
