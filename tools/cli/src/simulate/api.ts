// The public API's two writes, as an integrator should send them: one idempotency key per write, and a new read if the revision is stale.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterSeconds } from '@truckroll/client';
import { readApi, type ApiClientOptions } from '../export/http.ts';
import { reasonsOf, type AnsweredError } from '@truckroll/integrator-cli/terminal/reasons';

export interface Visit {
  id: string;
  number: string;
  job_id: string;
  revision: string;
  window_start_at: string;
  window_end_at: string;
  assignments: { id: string; status: string; team_member: { id: string; name: string } }[];
}

export interface Named {
  id: string;
  name: string;
}

/** A write that the API rejected, or did not answer for a minute. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const MAX_RETRY_MS = 60_000;
const LONGEST_ANSWER_MS = 15_000;
const MOST_READS = 5;

interface Answer {
  status: number;
  retryAfterSeconds: number;
  body?: { data?: Visit; error?: AnsweredError & { code: string } };
}

export class SchedulingApi {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  async list<T>(path: string, query: Readonly<Record<string, string>>): Promise<T[]> {
    return ((await readApi(path, { limit: '100', ...query }, this.#options)) as { data: T[] }).data;
  }

  async companyId(): Promise<string> {
    return ((await readApi('/v1/company', {}, this.#options)) as { data: { id: string } }).data.id;
  }

  /** Adds the technician. Returns the changed visit. Throws Refused. */
  add(visit: Visit, teamMemberId: string, notify: boolean): Promise<Visit> {
    return this.#write(visit, 'POST', '/v1/job-assignments', {
      appointment_id: visit.id,
      team_member_id: teamMemberId,
      starts_at: visit.window_start_at,
      ends_at: visit.window_end_at,
      customer_notification: notify ? {} : null,
    });
  }

  /** Removes the assignment. Returns the changed visit. Throws Refused. */
  remove(visit: Visit, assignmentId: string): Promise<Visit> {
    return this.#write(visit, 'DELETE', `/v1/job-assignments/${assignmentId}`, {});
  }

  async #write(visit: Visit, method: string, path: string, fields: object): Promise<Visit> {
    let { revision } = visit;
    for (let reads = 0; ; reads++) {
      const { status, body } = await this.#sent(method, path, { ...fields, expected_revision: revision });
      if (body?.data !== undefined && status < 300) return body.data;
      if (body?.error === undefined) throw new Refused(`HTTP ${status}`);
      if (body.error.code !== 'STALE_REVISION' || reads === MOST_READS) throw new Refused(reasonsOf(body.error));
      const { data } = (await readApi(`/v1/job-appointments/${visit.id}`, {}, this.#options)) as { data: Visit };
      revision = data.revision;
    }
  }

  async #sent(method: string, path: string, body: object): Promise<Answer> {
    const key = randomUUID();
    for (const startedAt = performance.now(); ; ) {
      const answer = await this.#attempt(method, path, body, key);
      const passing = answer.status === 0 || answer.status === 429 || answer.status >= 502;
      if (!passing || performance.now() - startedAt > MAX_RETRY_MS) return answer;
      await delay(Math.max(200, answer.retryAfterSeconds * 1000), undefined, { signal: this.#options.signal });
    }
  }

  async #attempt(method: string, path: string, body: object, key: string): Promise<Answer> {
    const { baseUrl, apiKey } = this.#options;
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', accept: 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        redirect: 'error',
        // Not the signal to stop: a write that has been sent is completed.
        signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
      });
      const asked = retryAfterSeconds(response.headers.get('retry-after')) ?? 0;
      return { status: response.status, retryAfterSeconds: Math.min(MAX_RETRY_MS / 1000, asked), body: (await response.json()) as NonNullable<Answer['body']> };
    } catch {
      return { status: 0, retryAfterSeconds: 0 };
    }
  }
}
