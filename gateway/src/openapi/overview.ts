// What applies to the whole API, in Markdown: the description's text and the reference's first page.
import { DEFAULT_LIMIT } from '../routes/query.ts';

export const overview = `Read a field-service company's records and schedule its technicians.

## Authentication

Send \`Authorization: Bearer\` followed by an API key (\`trk_…\`) or a user token. A credential opens exactly one company;
no request names a company. Without a credential, or with one that is unknown, expired, revoked or of the wrong kind, the
answer is a 401, whose message says what to do.

## Conventions

- Money is an integer in USD cents, within ±9,007,199,254,740,991. Timestamps are ISO 8601 in UTC with microseconds, or without a fraction where it is
  zero. Dates are \`YYYY-MM-DD\`. Ids are UUIDs, accepted in any case.
- Every key that this description lists is present; what is unknown is null. Ignore keys that you do not know: more may
  be added.
- Records are read as they are now. Neither cursors nor \`generated_at\` make a snapshot, so records can change between
  pages.

## Lists

- \`limit\` is 1 to 100, ${DEFAULT_LIMIT} by default, and counts records; their children are always complete.
- \`pagination.next_cursor\` goes into \`cursor\` of the next request, with the same filters. It is null on the last page
  and never expires.
- Filters combine with AND; repeating a parameter means OR. \`…_from\` is inclusive and \`…_before\` exclusive. Dates mean the
  company's own days. A null never matches a date filter.
- Unknown, empty or wrongly repeated parameters are a 400 that lists every failure.

## Limits

Requests are counted per key and minute: reads, reports and writes each have a limit of their own, and the company has one
over all its keys and users. The headers \`RateLimit-Policy\` and \`RateLimit\` describe the limit that is nearer. Beyond it the answer
is a 429 with \`Retry-After\`; so it is where too much of a company is under way at once, and for too many unknown credentials from
one address. Bodies hold at most 64 KB.

## Webhooks

Register an endpoint by \`POST /api/v1/integrations/webhooks\` to receive service requests and interactions moments after
they change. What is sent, how to verify it and what to answer is under "Webhook events".

## Errors

Every error has the same body, \`{"error": {code, message, request_id, details}}\`. Quote the \`request_id\`, which is also
in the header \`X-Request-Id\`, when you report a problem. A 503 comes with \`Retry-After\`; trying again is safe.
`;
