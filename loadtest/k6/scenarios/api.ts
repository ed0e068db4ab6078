// What scenarios are written against: k6 carries it out when load is made, and Node when only statuses and shapes are held
// against what was promised.

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly credential: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** The right answers. */
  readonly expect: readonly number[];
}

export interface Answer {
  /** 0 where none came. */
  readonly status: number;
  readonly body: string;
  /** By its name in small letters. */
  header(name: string): string | undefined;
}

export interface Client {
  /** Sends once and counts it as one request of the operation. Never rejects. */
  ask(operation: Operation, ask: Ask): Promise<Answer>;
  /** Tells of an answer that has the right status and is wrong all the same. */
  wrong(operation: Operation, what: string): void;
  /** Whether bodies are read in full. Under load that would cost the generator more than sending. */
  readonly thorough: boolean;
  pause(seconds: number): Promise<void>;
}

/** Rows of a result; each has its threshold in slo.json. */
export const OPERATIONS = [
  'list',
  'list_huge',
  'list_empty',
  'detail',
  'filter',
  'filter_huge',
  'report_invoice_activity',
  'report_collections',
  'report_job_profitability',
  'report_participation',
  'visit',
  'add',
  'replay',
  'remove',
  'webhook_create',
  'webhook_list',
  'webhook_change',
  'webhook_health',
  'webhook_delete',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Whose data is asked for. */
export interface Company {
  readonly key: string;
  /** Ids by the path of their list. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

/** A technician on a visit that is written to. */
export interface Place {
  readonly visitId: string;
  readonly technicianId: string;
}

/** Found before anything is sent, by the API itself. */
export interface World {
  /** Part of every key and name that a run makes. */
  readonly run: string;
  readonly startedAt: string;
  readonly usual: Company;
  readonly huge?: Company;
  readonly empty?: Company;
  /** Of a user of the usual company. */
  readonly userToken?: string;
  readonly places: readonly Place[];
  /** Days of reports: where invoices are. */
  readonly period: { readonly start: string; readonly end: string };
}

/** Which iteration of a scenario this is, of all and of its own worker, whose memory `own` is. */
export interface Turn {
  readonly number: number;
  readonly own: Record<string, string | undefined>;
}

/** Throws where the answer is not JSON. */
export function parsed<T>({ body }: Answer): T {
  return JSON.parse(body) as T;
}

/** Where the next page starts, without reading the page: pagination stands behind the data. */
export function nextCursor({ body }: Answer): string | undefined {
  const name = '"next_cursor":"';
  const at = body.lastIndexOf(name);
  return at < 0 ? undefined : body.slice(at + name.length, body.indexOf('"', at + name.length));
}
