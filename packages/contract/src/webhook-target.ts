// Where webhooks may be sent (decisions §7): the form of a URL, checked when an endpoint is stored, and the addresses
// that count as public, checked again on the address that is dialled. Both sides use this file, so that they agree.
import { BlockList, isIP } from 'node:net';

/** IANA special-purpose registries for IPv4; everything that is not plainly public is refused. */
const RESERVED_V4: readonly (readonly [net: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // automatic multicast tunnelling
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/**
 * Of IPv6 only 2000::/3 is given out. That alone refuses loopback, link-local, unique local, multicast, mapped
 * (::ffff:0:0/96), compatible and translated (64:ff9b::/96, 64:ff9b:1::/48) addresses; these lie within it.
 */
const RESERVED_V6: readonly (readonly [net: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

const reserved = new BlockList();
for (const [net, prefix] of RESERVED_V4) reserved.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of RESERVED_V6) reserved.addSubnet(net, prefix, 'ipv6');
const given = new BlockList();
given.addSubnet('2000::', 3, 'ipv6');

/** Whether an address, as a resolver or a socket gives it, is one of the public Internet. Anything else is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !reserved.check(address, 'ipv4');
    case 6:
      // A zone names an interface of this machine.
      return !address.includes('%') && given.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Targets that the operator allows although they are not public, and over http: exact addresses with their ports. */
export type AllowedTargets = ReadonlySet<string>;

/** Throws Error for anything but `127.0.0.1:9000` and `[::1]:9000`. */
export function parseAllowedTargets(targets: readonly string[]): AllowedTargets {
  return new Set(
    targets.map((target) => {
      const match = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(target);
      const address = match?.[1] ?? match?.[2] ?? '';
      if (match === null || isIP(address) === 0 || Number(match[3]) < 1 || Number(match[3]) > 65_535) {
        throw new Error(`WEBHOOK_ALLOWED_TARGETS must be address:port,… with exact addresses, not ${JSON.stringify(target)}`);
      }
      return targetName(address, Number(match[3]));
    }),
  );
}

/** Whether the address that is about to be dialled may be: a public one, or one that the operator allows. */
export function mayDial(address: string, port: number, allowed: AllowedTargets): boolean {
  return isPublicAddress(address) || allowed.has(targetName(address, port));
}

/**
 * What is wrong with a URL as a target, or undefined. Numbers in any notation count as the address that they mean, for
 * WHATWG's parser spells them out. Names are resolved, and judged, when they are dialled.
 */
export function targetProblem(text: string, allowed: AllowedTargets): string | undefined {
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return 'Give an absolute URL that begins with https://.';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'Leave user name and password out of the URL: the signature tells that a request is ours.';
  if (url.hash !== '') return 'Leave out the part after #: it is never sent.';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const literal = isIP(host) !== 0;
  if (literal && allowed.has(targetName(host, port))) return undefined;
  if (url.protocol !== 'https:') return 'Give a URL that begins with https://.';
  if (port === 0) return 'Give a port from 1 to 65535.';
  if (literal ? !isPublicAddress(host) : isLocalName(host)) return 'Give a public host: this one is private, local or reserved.';
  return undefined;
}

/** One spelling for every notation of an address. */
function targetName(address: string, port: number): string {
  if (isIP(address) === 4) return `${address}:${port}`;
  return `${new URL(`http://[${address.replace(/%.*/, '')}]`).hostname}:${port}`;
}

/** Names that never leave the machine or its network (RFC 6761, RFC 6762, ICANN's .internal). */
function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/.test(name);
}
