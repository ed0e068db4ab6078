import { whyFailed } from '../src/webhooks/log/why-failed.ts';

test.each([
  [true, 200, null],
  [false, null, null],
  [false, 199, 'only 2xx accepts a delivery.'],
  [false, 299, 'only 2xx accepts a delivery.'],
  [false, 300, 'redirects are not followed, so give the endpoint its final URL.'],
  [false, 302, 'redirects are not followed, so give the endpoint its final URL.'],
  [false, 399, 'redirects are not followed, so give the endpoint its final URL.'],
  [false, 400, 'only 2xx accepts a delivery.'],
  [false, 410, 'it says that the receiver is gone, so the endpoint is disabled.'],
  [false, 429, 'the receiver is asking for fewer requests, so fewer are sent to it at once.'],
  [false, 503, 'only 2xx accepts a delivery.'],
])('with success %p and status %p, says why an attempt failed: %p', (succeeded, status, why) => {
  expect(whyFailed({ succeeded, status })).toBe(why && `The status ${status} is a failure: ${why}`);
});
