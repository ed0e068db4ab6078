import { createMetrics } from '@truckroll/telemetry';
import { answersIn } from '../../loadtest/load/gateway-watch.ts';

test('counts the answers of every route by outcome, including routes with parameters', async () => {
  const metrics = createMetrics('gateway');
  const requests = metrics.histogram('http_server_request_duration_seconds', 'Requests', ['http_request_method', 'http_route', 'http_response_status_code']);
  const answers: readonly [string, string][] = [
    ['/v1/jobs', '200'],
    ['/v1/jobs/{job_id}', '200'],
    ['/v1/jobs/{job_id}', '404'],
    ['/v1/jobs', '429'],
    ['/v1/invoices/{invoice_id}', '503'],
    ['/v1/jobs/{job_id}', '499'],
    ['/v1/jobs', '500'],
  ];
  for (const [http_route, http_response_status_code] of answers) requests.observe({ http_request_method: 'GET', http_route, http_response_status_code }, 0.01);
  expect(answersIn((await metrics.render()).body)).toEqual({ good: 3, refused: 2, failed: 2 });
});
