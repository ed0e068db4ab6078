// The interface that scenarios use: k6 implements it to make load, Node to check statuses and shapes only.

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly credential: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly expect: readonly number[];
}

export interface Answer {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly body: string;
  /** `name` is in lower case. */
  header(name: string): string | undefined;
}

export interface Client {
  /** Sends one request and counts it for the operation. Never rejects. */
  ask(operation: Operation, ask: Ask): Promise<Answer>;
  /** Reports an answer with an expected status and wrong content. */
  wrong(operation: Operation, what: string): void;
  /** Whether bodies are checked in full. Under load that would cost the generator more than sending. */
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

/** A visit of the API, with the fields that are read here. */
export interface Visit extends Readonly<Record<'id' | 'revision' | 'window_start_at' | 'window_end_at', string>> {
  readonly assignments: readonly { readonly id: string; readonly created_at: string; readonly team_member: { readonly id: string } }[];
}

/** A visit and the technician to add to it and remove again. */
export interface Place {
  readonly visitId: string;
  readonly technicianId: string;
}

/** Without a huge or empty company or a user token, the scenarios that need them are skipped. */
export type Credentials = Readonly<{ usual: string } & Record<'huge' | 'empty' | 'userToken', string | undefined>>;

/** What the scenarios work with; read from the API before the load starts. */
export interface World {
  /** Part of every key and name that a run creates. */
  readonly run: string;
  readonly startedAt: string;
  readonly credentials: Credentials;
  /** Ids of the usual company by the path of their list. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly places: readonly Place[];
  readonly period: { readonly start: string; readonly end: string };
}

/** `number` counts the iterations of a scenario; `own` is the memory of one k6 worker. */
export interface Turn {
  readonly number: number;
  readonly own: Record<string, string | undefined>;
}

export function headersOf({ credential, body, idempotencyKey }: Ask): Record<string, string> {
  const headers: Record<string, string> = { Authorization: `Bearer ${credential}`, Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  return headers;
}

export function refusal({ method = 'GET', path }: Ask, { status, body }: Pick<Answer, 'status' | 'body'>): string {
  return `${method} ${path} answered ${status}: ${body.slice(0, 300)}`;
}

export function parsed<T>({ body }: Answer): T {
  return JSON.parse(body) as T;
}

/** Finds the next page's cursor without parsing the page: pagination comes after the data. */
export function nextCursor({ body }: Answer): string | undefined {
  const name = '"next_cursor":"';
  const at = body.lastIndexOf(name);
  return at < 0 ? undefined : body.slice(at + name.length, body.indexOf('"', at + name.length));
}
