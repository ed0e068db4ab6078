// What is wrong with the parts of an endpoint that a request gives, all of it at once (decisions §3). Only reads.
import type { JsonProblem } from '@truckroll/contract';
import type { WebhookHeaderValue } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Queryable } from '@truckroll/postgres';
import { readTarget, TargetProblem } from '@truckroll/webhook-targets';
import type { Context } from '../../context.ts';
import { subscriptionProblems } from '../filter/store.ts';
import { alertProblems } from '../health/alerts.ts';
import { NO_HEADERS, headerProblems, originProblems, type StoredHeaders } from './custom-headers.ts';

/** Null and undefined: not given. */
export interface GivenParts {
  url?: string | null | undefined;
  event_types?: readonly string[] | null | undefined;
  /** Empty removes the filter. */
  filter?: string | null | undefined;
  headers?: readonly WebhookHeaderValue[] | null | undefined;
  alert_emails?: readonly string[] | null | undefined;
}

/** The endpoint that a request changes. */
export interface PresentParts extends StoredHeaders {
  id: string;
  url: string;
  event_types: readonly string[];
  filter?: string | null | undefined;
}

/** Without `present`, the parts are those of a new endpoint. Fields of problems are paths in the body: `headers[0].value`. */
export async function endpointProblems(
  { secrets, targets }: Pick<Context, 'secrets' | 'targets'>,
  db: Queryable,
  companyId: string,
  given: GivenParts,
  present?: PresentParts,
): Promise<JsonProblem[]> {
  const { url, event_types, filter, headers, alert_emails } = given;
  const types = event_types ?? present?.event_types;
  // Also when only the types change: a stored filter may name paths that the new types lack.
  const checksFilter = filter != null || event_types != null;
  return [
    ...(url == null ? [] : urlProblems(url, targets)),
    ...(checksFilter && types !== undefined ? subscriptionProblems(filter ?? present?.filter, types) : []),
    ...(headers == null ? [] : headerProblems(secrets, present?.id ?? '', headers, present ?? NO_HEADERS)),
    ...(url == null || present === undefined ? [] : originProblems(present.url, url, present.header_names, headers ?? undefined)),
    ...(alert_emails == null ? [] : await alertProblems(db, companyId, alert_emails)),
  ];
}

/** Checks only the URL itself: host names are resolved and their addresses checked when something is sent. */
function urlProblems(url: string, targets: Context['targets']): JsonProblem[] {
  try {
    readTarget(url, targets);
    return [];
  } catch (error) {
    if (!(error instanceof TargetProblem)) throw error;
    return error.problems.map((message) => ({ field: 'url', code: 'INVALID_FORMAT', message }));
  }
}
