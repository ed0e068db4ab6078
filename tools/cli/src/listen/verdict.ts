import { Webhook } from 'standardwebhooks';

/** What came, and whether it is ours. Of what was not verified nothing is told but its size: anybody may have sent it. */
export interface Verdict {
  readonly id: string;
  readonly type: string | undefined;
  readonly sequence: number | undefined;
  /** The parsed body, or its text where it is no JSON. */
  readonly event: unknown;
  /** Size of the body. */
  readonly bytes: number;
  /** False where there is no secret to verify it with. */
  readonly verified: boolean;
  /** Why it is refused. */
  readonly problem: string | undefined;
  readonly answer: number;
}

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** Anything else would be printed as a stranger wrote it. */
const PLAIN_ID = /^[\w.:-]{1,100}$/;

/** Judges a request as a receiver should: by the signature over the bytes that came, and by the time of the attempt. */
export function judge(secrets: readonly string[], header: (name: string) => string | undefined, body: Buffer): Verdict {
  const text = body.toString();
  const headers = Object.fromEntries(HEADERS.map((name) => [name, header(name) ?? '']));
  const problem = secrets.length === 0 ? undefined : problemOf(secrets, text, headers);
  const verified = secrets.length > 0 && problem === undefined;
  const event = verified ? parsed(text) : undefined;
  const { type, sequence } = (typeof event === 'object' && event !== null ? event : {}) as { type?: unknown; sequence?: unknown };
  return {
    id: PLAIN_ID.test(headers['webhook-id'] ?? '') ? (headers['webhook-id'] as string) : '(without id)',
    type: typeof type === 'string' ? type : undefined,
    sequence: typeof sequence === 'number' ? sequence : undefined,
    event,
    bytes: body.length,
    verified,
    problem,
    answer: 0,
  };
}

function problemOf(secrets: readonly string[], text: string, headers: Record<string, string>): string | undefined {
  let problem: string | undefined;
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(text, headers);
      return undefined;
    } catch (error) {
      problem ??= (error as Error).message;
    }
  }
  return problem;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A delivery as people read it. `again` tells one that came before. */
export function described(verdict: Verdict, at: Date, again: boolean): string {
  const { id, type = '(event)', sequence, bytes, verified, problem, answer } = verdict;
  const state = problem === undefined ? (verified ? 'verified' : 'not verified: set TRUCKROLL_WEBHOOK_SECRET') : `REFUSED: ${problem}`;
  const number = sequence === undefined ? '' : ` #${sequence}`;
  const head = `${at.toISOString().slice(11, 19)}  ${type}${number}  ${state}  → ${answer}${again ? '  (came before)' : ''}`;
  const shown = typeof verdict.event === 'string' ? verdict.event : JSON.stringify(verdict.event, undefined, 2);
  const body = verified ? shown : `${bytes} bytes, which are not shown`;
  return `${head}\n  webhook-id: ${id}\n${body.replace(/^/gm, '  ')}\n`;
}
