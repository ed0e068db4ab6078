import { firstHeaders } from '@truckroll/contract';
import { AttemptError, type LeasedDelivery, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ATTR_ERROR_TYPE, ATTR_HTTP_REQUEST_METHOD, ATTR_HTTP_RESPONSE_STATUS_CODE, describeSpan, failSpan, withRemoteSpan } from '@truckroll/telemetry';
import { exchange, type ExchangeOptions, type ExchangeResult } from './exchange.ts';
import { hiding, type Hide } from './hide.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { signatureOf } from './sign.ts';

/** Shown in the log instead of a custom header's value. */
const HIDDEN = '(hidden)';
/** Maximum size of the names and values that the log keeps of an answer's headers. */
const MOST_LOGGED_HEADERS = 16 * 1024;

/** Sends a delivery once. Undefined if no connection was free. Calls `charge` with the CPU time of the answer in ms. Never rejects. */
export function attempt(options: ExchangeOptions, delivery: LeasedDelivery, charge: (ms: number) => void): Promise<ReportRequest | undefined> {
  const header = (name: string): string | undefined => (name === 'traceparent' ? (delivery.traceparent ?? undefined) : undefined);
  const about = {
    [ATTR_HTTP_REQUEST_METHOD]: 'POST',
    'truckroll.delivery_id': delivery.delivery_id,
    'truckroll.endpoint_id': delivery.endpoint_id,
    'truckroll.company_id': delivery.company_id,
  };
  return withRemoteSpan(header, 'POST webhook', 'CLIENT', about, async () => {
    const report = await exchangeOf(options, delivery, charge);
    if (report === undefined) return undefined;
    const { response_status: status, error } = report;
    describeSpan(status == null ? { [ATTR_ERROR_TYPE]: error } : { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status });
    if (!endpointAnswers(report)) failSpan();
    return report;
  });
}

async function exchangeOf(options: ExchangeOptions, delivery: LeasedDelivery, charge: (ms: number) => void): Promise<ReportRequest | undefined> {
  const startedAt = Date.now();
  const timestamp = Math.floor(startedAt / 1000);
  const body = Buffer.from(delivery.body.buffer, delivery.body.byteOffset, delivery.body.byteLength);
  const custom = new Map(delivery.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const headers = {
    'user-agent': 'Truckroll-Webhooks/1.0',
    ...Object.fromEntries(custom),
    'content-type': 'application/json',
    'webhook-id': delivery.event_id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(delivery.secrets, delivery.event_id, timestamp, body),
    ...(delivery.test && { 'webhook-test': 'true' }),
  };
  const { endpoint_id: endpointId, company_id: companyId, url } = delivery;
  const result = await exchange(options, { endpointId, companyId, url, headers, body });
  if (result === undefined) return undefined;
  const endedAt = Date.now();
  const hide = hiding(custom.values());
  const since = performance.now();
  const answered = shown(result, hide);
  charge(result.processorMs + performance.now() - since);
  return {
    delivery_id: delivery.delivery_id,
    lease_token: delivery.lease_token,
    response_status: result.status ?? null,
    error: result.failure?.kind ?? AttemptError.UNSPECIFIED,
    error_message: answered.message.slice(0, 500),
    started_at: startedAt * 1000,
    ended_at: endedAt * 1000,
    // The values of custom headers are secrets of the endpoint's owner.
    request_headers: result.requestHeaders.map((header) => (custom.has(header.name) ? { ...header, value: HIDDEN } : header)),
    response_headers: answered.headers,
    response_body: answered.body,
    response_truncated: result.truncated,
    retry_after_seconds: retryAfterSeconds(headerOf(result, 'retry-after'), endedAt) ?? null,
    resolved_address: result.address ?? null,
  };
}

/** Whether the exchange shows that the endpoint works: a 2xx status, or a 4xx status other than 429 (docs/how-to/webhooks.md). */
export function endpointAnswers({ error, response_status: status }: ReportRequest): boolean {
  if (error !== AttemptError.UNSPECIFIED || status === null || status === undefined) return false;
  return (status >= 200 && status < 300) || (status >= 400 && status < 500 && status !== 429);
}

/** What the log keeps of the answer. The values of custom headers are hidden where the receiver repeats them. */
function shown({ failure, responseHeaders, responseBody, truncated }: ExchangeResult, hide: Hide | undefined) {
  const message = failure?.message ?? '';
  const isCut = truncated || failure !== undefined;
  if (hide === undefined) return { message, headers: firstHeaders(responseHeaders, MOST_LOGGED_HEADERS), body: responseBody };
  const headers = responseHeaders.map(({ name, value }) => ({ name, value: hide.text(value) }));
  return { message: hide.text(message), headers: firstHeaders(headers, MOST_LOGGED_HEADERS), body: hide.bytes(responseBody, isCut) };
}

function headerOf(result: ExchangeResult, name: string): string | undefined {
  return result.responseHeaders.find((header) => header.name === name)?.value;
}
