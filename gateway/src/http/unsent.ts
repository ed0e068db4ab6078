// Limits the memory of answers that clients do not read (docs/reference/limits.md). The operating system takes most answers at once: only
// the others are counted.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '@truckroll/contract';
import type { Exchange } from './exchange.ts';
import { SILENT_MS } from './server.ts';

/** Bytes of a company's unsent answers, over all connections to this gateway, above which its requests are rejected: four of the largest pages. */
export const MOST_OF_COMPANY = 32_000_000;
/** Time in ms without progress after which a connection with unsent answers is closed. */
export const UNREAD_MS = 30_000;
/** Smaller answers are not counted. */
const LEAST_COUNTED = 16 * 1024;

export class UnsentAnswers {
  readonly #unreadMs: number;
  readonly #byCompany = new Map<string, number>();
  readonly #bySocket = new WeakMap<Socket, Map<ServerResponse, () => void>>();

  constructor(unreadMs = UNREAD_MS) {
    this.#unreadMs = unreadMs;
  }

  /** Throws 429 if the company's clients must read first. */
  check(companyId: string): void {
    if ((this.#byCompany.get(companyId) ?? 0) <= MOST_OF_COMPANY) return;
    const message = 'Answers to this company wait to be read by its clients, 32 MB or more: read them before sending further requests.';
    throw new ApiError('RATE_LIMITED', message, { retryAfterSeconds: 1 });
  }

  /** Counts an answer to a company that has just been written, until it is sent or its connection is closed. */
  note({ res, principal, bytes = 0 }: Pick<Exchange, 'res' | 'principal' | 'bytes'>): void {
    if (bytes < LEAST_COUNTED || res.writableFinished) return;
    const { socket } = res.req;
    if (socket.destroyed) return;
    const companyId = (principal as NonNullable<typeof principal>).company_id;
    this.#add(companyId, bytes);
    const waiting = this.#waitingOn(socket);
    const end = (): void => {
      if (!waiting.delete(res)) return;
      this.#add(companyId, -bytes);
      if (waiting.size === 0 && socket.timeout === this.#unreadMs) socket.setTimeout(SILENT_MS);
    };
    waiting.set(res, end);
    res.once('close', end);
    // Node restarts the timeout whenever the client takes some of the answer.
    socket.setTimeout(this.#unreadMs);
  }

  #waitingOn(socket: Socket): Map<ServerResponse, () => void> {
    let waiting = this.#bySocket.get(socket);
    if (waiting === undefined) {
      const made = new Map<ServerResponse, () => void>();
      this.#bySocket.set(socket, (waiting = made));
      // Node emits no event for an answer that waits behind another one.
      socket.once('close', () => {
        for (const end of [...made.values()]) end();
      });
    }
    return waiting;
  }

  #add(companyId: string, bytes: number): void {
    const sum = (this.#byCompany.get(companyId) ?? 0) + bytes;
    if (sum > 0) this.#byCompany.set(companyId, sum);
    else this.#byCompany.delete(companyId);
  }
}
