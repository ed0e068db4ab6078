// /.well-known/security.txt (RFC 9116): where to report a vulnerability of this installation.
import { formatDate } from '@truckroll/contract';

export const SECURITY_TXT = '/.well-known/security.txt';

const DAY_MS = 86_400_000;
/** Days from the request to `Expires`; RFC 9116 recommends less than a year. */
const VALID_DAYS = 180;

/** The text at `nowMs`, in milliseconds since 1970. `base` is the installation's address, empty if unknown. */
export function securityTxt(contact: string, base: string, nowMs = Date.now()): string {
  const expires = formatDate(Math.floor(nowMs / DAY_MS) + VALID_DAYS);
  const canonical = base === '' ? [] : [`Canonical: ${base}${SECURITY_TXT}`];
  return [`Contact: ${contact}`, `Expires: ${expires}T00:00:00Z`, 'Preferred-Languages: en', ...canonical, ''].join('\n');
}
