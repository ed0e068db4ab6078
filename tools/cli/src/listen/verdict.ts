import { verifyWebhook } from '@truckroll/client';

/** A request and whether it is a genuine delivery. Of an unverified one only the size is shown, because anyone could have sent it. */
export interface Verdict {
  readonly id: string;
  readonly type: string | undefined;
  readonly sequence: number | undefined;
  readonly event: unknown;
  /** Whether a user requested the event as a test. */
  readonly test: boolean;
  readonly bytes: number;
  /** False if there is no secret to verify with. */
  readonly verified: boolean;
  readonly problem: string | undefined;
  readonly answer: number;
}

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
type Verified = { readonly event: unknown; readonly test: boolean } | { readonly problem: string };
/** Ids of any other form are not printed: they did not come from Truckroll. */
const PLAIN_ID = /^[\w.:-]{1,100}$/;

/** Verifies a request as a receiver should: the signature over the raw body, and the time of the attempt. */
export function judge(secrets: readonly string[], header: (name: string) => string | undefined, body: Buffer): Verdict {
  const headers = Object.fromEntries(HEADERS.map((name) => [name, header(name) ?? '']));
  const id = headers['webhook-id'] as string;
  const found = secrets.length === 0 ? undefined : verified(secrets, headers, body);
  const event = found !== undefined && 'event' in found ? found.event : undefined;
  const { type, sequence } = (typeof event === 'object' && event !== null ? event : {}) as { type?: unknown; sequence?: unknown };
  return {
    id: PLAIN_ID.test(id) ? id : '(without id)',
    type: typeof type === 'string' ? type : undefined,
    sequence: typeof sequence === 'number' ? sequence : undefined,
    event,
    test: found !== undefined && 'test' in found && found.test,
    bytes: body.length,
    verified: found !== undefined && 'event' in found,
    problem: found !== undefined && 'problem' in found ? found.problem : undefined,
    answer: 0,
  };
}

function verified(secrets: readonly string[], headers: Record<string, string>, body: Buffer): Verified {
  try {
    const { test, ...event } = verifyWebhook(secrets, headers, body);
    return { event, test };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** A delivery in words. `again` means that it arrived before. */
export function described(verdict: Verdict, at: Date, again: boolean): string {
  const { id, type = '(event)', sequence, test, bytes, verified, problem, answer } = verdict;
  const state = problem === undefined ? (verified ? 'verified' : 'not verified: set TRUCKROLL_WEBHOOK_SECRET') : `REFUSED: ${problem}`;
  const number = sequence === undefined ? '' : ` #${sequence}`;
  const head = `${at.toISOString().slice(11, 19)}  ${type}${number}${test ? ' (a test)' : ''}  ${state}  → ${answer}${again ? '  (came before)' : ''}`;
  const body = verified ? JSON.stringify(verdict.event, undefined, 2) : `${bytes} bytes, which are not shown`;
  return `${head}\n  webhook-id: ${id}\n${body.replace(/^/gm, '  ')}\n`;
}
