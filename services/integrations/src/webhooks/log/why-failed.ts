/** Why an attempt with a complete answer failed; null if it succeeded, or has no answer. */
export function whyFailed({ succeeded, status }: { succeeded: boolean; status: number | null }): string | null {
  if (succeeded || status === null) return null;
  return `The status ${status} is a failure: ${WHY[status] ?? (status >= 300 && status < 400 ? REDIRECT : OTHER)}`;
}

const REDIRECT = 'redirects are not followed, so give the endpoint its final URL.';
const OTHER = 'only 2xx accepts a delivery.';
const WHY: Readonly<Record<number, string>> = {
  410: 'it says that the receiver is gone, so the endpoint is disabled.',
  429: 'the receiver is asking for fewer requests, so fewer are sent to it at once.',
};
