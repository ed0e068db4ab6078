import { AttemptError, type ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';

/** Outcome of an exchange in metrics and logs: the class of its status, or the reason why there is none. */
export type Result = '2xx' | '3xx' | '4xx' | '5xx' | 'timeout' | 'refused' | 'dns' | 'blocked' | 'tls' | 'broken';

const FAILURES: Readonly<Record<string, Result>> = {
  [AttemptError.NAME]: 'dns',
  [AttemptError.FORBIDDEN_TARGET]: 'blocked',
  [AttemptError.CONNECT]: 'refused',
  [AttemptError.TLS]: 'tls',
  [AttemptError.TIMEOUT]: 'timeout',
  [AttemptError.EXCHANGE]: 'broken',
};

export function resultOf({ error, response_status: status }: Pick<ReportRequest, 'error' | 'response_status'>): Result {
  if (error !== AttemptError.UNSPECIFIED) return FAILURES[error] ?? 'broken';
  const hundreds = Math.floor((status ?? 0) / 100);
  return hundreds >= 2 && hundreds <= 5 ? (`${hundreds}xx` as Result) : 'broken';
}
