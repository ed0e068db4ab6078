// Sends text messages through an HTTP provider; docs/how-to/notifications.md describes the exchange.
import type { Provider } from '@truckroll/mail';

export interface SmsOptions {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Errors of fetch that occur before a connection exists: nothing was sent. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** SENT for a 2xx, FAILED for a 4xx, UNTAKEN if no connection was made, which may be tried again; UNKNOWN for anything else. */
export function smsProvider({ url, token, timeoutMs }: SmsOptions): Provider {
  return {
    async send({ id, address, text }) {
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'idempotency-key': id,
            ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          },
          body: JSON.stringify({ id, to: address, text }),
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
        await response.body?.cancel();
        const outcome = response.ok ? 'SENT' : response.status >= 400 && response.status < 500 ? 'FAILED' : 'UNKNOWN';
        return { outcome, detail: `HTTP ${response.status}` };
      } catch (error) {
        const code = ((error as Error).cause as { code?: string } | undefined)?.code;
        return { outcome: UNREACHED.has(code ?? '') ? 'UNTAKEN' : 'UNKNOWN', detail: code ?? String(error) };
      }
    },
  };
}
