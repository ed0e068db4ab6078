// What a page shows of an operation or an event, in HTML and in Markdown.
import type { Schema } from './description.ts';

export interface Row {
  name: string;
  schema: Schema;
  description: string;
  /** `required`, `path, required`, `derived`. */
  note?: string;
}

export interface AnswerView {
  status: string;
  description: string;
  schema?: Schema;
  example?: unknown;
  error?: ErrorExample;
}

export interface OperationView {
  id: string;
  summary: string;
  description: string;
  deprecated: boolean;
  verb: string;
  path: string;
  /** The path with example ids, and the query of a first request. */
  target: string;
  credential: 'either' | 'key' | 'token';
  limit: 'reads' | 'reports' | 'writes' | 'changes' | 'digests';
  idempotent: boolean;
  parameters: Row[];
  pathIds: { name: string; example: string; uuid: boolean }[];
  /** What a 404 says is missing. */
  missing: string;
  body?: { description: string; schema: Schema; rows: Row[]; example: unknown };
  answers: AnswerView[];
  samples: Sample[];
  /** Schema of the record or row that a success holds, if it has one of its own. */
  record?: string;
  /** For a read that a key may do: what a browser requests to try it. `list` has the id that stands in `path`. */
  trial?: { path: string; list?: string };
}

export const CREDENTIALS: Record<OperationView['credential'], string> = {
  either: 'API key or user token',
  key: 'API key',
  token: 'user token',
};

export interface WebhookView {
  id: string;
  type: string;
  description: string;
  headers: Row[];
  body: Row[];
  example: unknown;
  answers: AnswerView[];
}

export interface ErrorExample {
  code: string;
  message: string;
  details: Record<string, string>[];
  /** Changes to the operation's request that cause this error; undefined if no single request can cause it. */
  request?: { query?: string; id?: string; credential?: 'none'; body?: Record<string, unknown> };
}

export interface Sample {
  label: string;
  language: string;
  code: string;
}
