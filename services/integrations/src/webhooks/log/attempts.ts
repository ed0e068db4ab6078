// Reading the attempts of deliveries, limited to what one answer can carry.
import { ApiError, firstHeaders } from '@truckroll/contract';
import type { AttemptError, HttpHeader } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type * as wire from '@truckroll/contract/gen/integrations/v1/webhook_deliveries';
import type { Queryable } from '@truckroll/postgres';
import { MOST_PAGE_BYTES, fitting } from '../../pages.ts';
import { dayOfDelivery } from './delivery-id.ts';
import { whyFailed } from './why-failed.ts';

export interface Extent {
  /** Maximum number of attempts, newest first. */
  readonly attempts: number;
  /** Maximum length of each body, and of the headers of each answer together. */
  readonly characters: number;
  /** Bytes to read of a body: the maximum that `characters` can take, so a body of which not all is read has more characters. */
  readonly bytes: number;
}

const MOST_BYTES_OF_A_CHARACTER = 4;
/** For lists. */
export const LISTED: Extent = { attempts: 5, characters: 2048, bytes: 2048 * MOST_BYTES_OF_A_CHARACTER };
/** For one delivery: its bodies are never longer than this. */
export const WHOLE: Extent = { attempts: 20, characters: 1_000_000_000, bytes: 1_000_000_000 };

interface Row {
  delivery_id: string;
  number: number;
  started_at: number;
  ended_at: number;
  succeeded: boolean;
  status: number | null;
  error: AttemptError | null;
  error_message: string | null;
  address: string | null;
  request_headers: HttpHeader[];
  response_headers: HttpHeader[];
  response_body: Buffer;
  response_truncated: boolean;
}

/** Columns of webhook_attempts (alias a). $1 is the number of bytes to read of a body. */
const COLUMNS = `a.delivery_id, a.number, a.started_at, a.ended_at, a.succeeded, a.status, a.error, a.error_message, a.address,
  a.request_headers, a.response_headers, substring(a.response_body for $1) as response_body, a.response_truncated`;

/** SQL for the bytes to read of an attempt (alias a): its headers, and at most this many of its body. */
const bytesRead = (body: string): string =>
  `least(octet_length(a.response_body), ${body}) + octet_length(a.request_headers::text) + octet_length(a.response_headers::text)`;

export interface Newest {
  /** Oldest first. */
  readonly shown: wire.WebhookAttempt[];
  readonly hasMore: boolean;
}

/** The first deliveries that fit a page together with what `newestAttempts` reads of them; at least one. */
export async function readable<D extends { id: string; day: string; body: Buffer }>(db: Queryable, deliveries: readonly D[], extent: Extent): Promise<D[]> {
  const { rows } = await db.query<{ bytes: number }>({
    name: 'measure_webhook_attempts',
    text: `select coalesce(a.bytes, 0)::int as bytes from unnest($2::date[], $3::uuid[]) with ordinality d (day, id, ordinal)
      cross join lateral (select sum(bytes) as bytes from (
        select ${bytesRead('$1')} as bytes from webhook_attempts a where a.day = d.day and a.delivery_id = d.id order by a.number desc limit $4) n) a
      order by d.ordinal`,
    values: [extent.bytes, deliveries.map(({ day }) => day), deliveries.map(({ id }) => id), extent.attempts],
  });
  let room = MOST_PAGE_BYTES;
  const end = deliveries.findIndex(({ body }, index) => (room -= body.length + (rows[index]?.bytes ?? 0)) < 0 && index > 0);
  return end === -1 ? [...deliveries] : deliveries.slice(0, end);
}

/** Newest attempts by delivery id, none for a delivery without attempts. For a page of deliveries, call `readable` first: it limits the bytes read here. */
export async function newestAttempts(db: Queryable, deliveries: readonly { id: string; day: string }[], extent: Extent): Promise<Map<string, Newest>> {
  if (deliveries.length === 0) return new Map();
  const { rows } = await db.query<Row>({
    name: 'newest_webhook_attempts',
    // First finds which attempts to show, so that other bodies are not read.
    text: `select ${COLUMNS} from unnest($2::date[], $3::uuid[]) d (day, id)
      cross join lateral (select lease_token from webhook_attempts a where a.day = d.day and a.delivery_id = d.id order by a.number desc limit $4 + 1) n
      join webhook_attempts a on a.day = d.day and a.delivery_id = d.id and a.lease_token = n.lease_token order by a.number`,
    values: [extent.bytes, deliveries.map(({ day }) => day), deliveries.map(({ id }) => id), extent.attempts],
  });
  return new Map(
    [...Map.groupBy(rows, ({ delivery_id }) => delivery_id)].map(([id, own]) => [
      id,
      { shown: own.slice(-extent.attempts).map((row) => attemptOf(row, extent)), hasMore: own.length > extent.attempts },
    ]),
  );
}

/** Cursor for the attempts before the one with this number. */
export function positionBefore(deliveryId: string, number: number): Buffer {
  return Buffer.from(`${deliveryId} ${number}`, 'latin1');
}

/** A page of attempts, newest first. Throws 400 if the cursor is one of another delivery. */
export async function listAttempts(db: Queryable, deliveryId: string, limit: number, after: Uint8Array): Promise<wire.ListWebhookDeliveryAttemptsResponse> {
  const [of = deliveryId, before] = after.length === 0 ? [] : Buffer.from(after).toString('latin1').split(' ');
  if (of !== deliveryId) throw new ApiError('INVALID_CURSOR', 'The cursor is one of another delivery: start without a cursor.');
  const { rows } = await db.query<Row & { goes_on: boolean }>({
    name: 'list_webhook_attempts',
    text: `with listed as (
        select lease_token, number, row_number() over newest as ordinal, sum(${bytesRead('$1')}) over newest as bytes
        from webhook_attempts a where day = $2 and delivery_id = $3 and ($4::int is null or number < $4) window newest as (order by number desc))
      select ${COLUMNS}, exists (select from listed o where o.number < a.number) as goes_on
      from listed l join webhook_attempts a on a.day = $2 and a.delivery_id = $3 and a.lease_token = l.lease_token
      where l.ordinal = 1 or (l.ordinal <= $5 and l.bytes <= $6) order by a.number desc`,
    values: [WHOLE.bytes, dayOfDelivery(deliveryId), deliveryId, before === undefined ? null : Number(before), limit, MOST_PAGE_BYTES],
  });
  const data = fitting(
    'truckroll.integrations.v1.WebhookAttempt',
    rows.map((row) => attemptOf(row, WHOLE)),
  );
  const last = rows[data.length - 1];
  const next = last !== undefined && (last.goes_on || data.length < rows.length) ? positionBefore(deliveryId, last.number) : Buffer.alloc(0);
  return { data, next };
}

function attemptOf(row: Row, { characters }: Extent): wire.WebhookAttempt {
  const body = cut(row.response_body, characters, row.response_truncated);
  const headers = firstHeaders(row.response_headers, characters);
  const response = { status: row.status ?? 0, headers, body: body.text, body_truncated: body.truncated };
  return {
    number: row.number,
    started_at: row.started_at,
    ended_at: row.ended_at,
    succeeded: row.succeeded,
    request: { headers: row.request_headers, address: row.address },
    response: row.status === null ? null : response,
    error: row.error,
    error_message: row.error_message ?? whyFailed(row),
  };
}

/** The first `most` characters of a text. Invalid UTF-8, including a character cut in two, becomes U+FFFD. */
export function cut(bytes: Buffer, most: number, truncated: boolean): { text: string; truncated: boolean } {
  const text = bytes.toString('utf8');
  return text.length > most ? { text: text.slice(0, most).toWellFormed(), truncated: true } : { text, truncated };
}
