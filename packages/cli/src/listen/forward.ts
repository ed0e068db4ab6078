import { createHmac } from 'node:crypto';
import type { WaitingDelivery } from './inbox.ts';

export interface Arrival extends WaitingDelivery {
  /** Status of the program's answer, or why there is none; undefined if nothing was sent on. */
  readonly answer: number | string | undefined;
}

/** Milliseconds to wait for an answer: those that Truckroll waits for an endpoint. */
const WITHIN_MS = 15_000;

/** Sends a delivery as Truckroll does (Standard Webhooks). Resolves to the status, or to the reason why there is none. */
export async function forward({ event_id: id, test, body }: WaitingDelivery, secret: string, target: string, signal: AbortSignal): Promise<number | string> {
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    ...(test && { 'webhook-test': 'true' }),
  };
  try {
    const answer = await fetch(target, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? message;
  }
}

export function describedArrival({ event_id: id, test, body, answer }: Arrival): string {
  const event = JSON.parse(body) as { type: string; sequence: number; timestamp: string };
  const outcome = answer === undefined ? '' : `  → ${answer}`;
  const head = `${event.timestamp.slice(11, 19)}  ${event.type} #${event.sequence}${test ? ' (a test)' : ''}${outcome}`;
  return `${head}\n  webhook-id: ${id}\n${JSON.stringify(event, undefined, 2).replace(/^/gm, '  ')}\n`;
}
