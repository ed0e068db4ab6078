// Which addresses a webhook may be sent to (decisions §7): only those routed on the public internet.
//
// Sources: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and later additions). For IPv6 only global unicast,
// 2000::/3, is allowed, minus the ranges below. Addresses that embed an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are
// refused whatever it is: a public target does not need them.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = readonly [cidr: string, name: string];

const IPV4: readonly Range[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', 'translated'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

const IPV6: readonly Range[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'mapped'],
  ['::ffff:0:0:0/96', 'translated'],
  ['::/96', 'mapped'],
  ['64:ff9b::/96', 'translated'],
  ['64:ff9b:1::/48', 'translated'],
  ['100::/64', 'discard'],
  ['2001::/32', 'translated'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', 'translated'],
  ['2620:4f:8000::/48', 'reserved'],
  ['3ffe::/16', 'reserved'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'reserved'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
];

/** Metadata services of AWS, Google, Azure, Oracle, Alibaba and OpenStack, and Azure's platform service. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fe80::a9fe:a9fe',
];

/** IPv6 prefixes that embed an IPv4 address (mapped, translated, compatible, NAT64, 6to4), and the bytes that hold it (RFC 6052, RFC 3056). */
const EMBEDDING = [
  ['::ffff:0:0/96', [12, 13, 14, 15]],
  ['::ffff:0:0:0/96', [12, 13, 14, 15]],
  ['::/96', [12, 13, 14, 15]],
  ['64:ff9b::/96', [12, 13, 14, 15]],
  ['64:ff9b:1::/48', [12, 13, 14, 15]],
  ['64:ff9b:1::/48', [6, 7, 9, 10]],
  ['2002::/16', [2, 3, 4, 5]],
] as const;

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const embedding = EMBEDDING.map(([cidr, bytes]) => [ipaddr.IPv6.parseCIDR(cidr), bytes] as const);
const ipv4 = IPV4.map(([cidr, name]) => [ipaddr.IPv4.parseCIDR(cidr), name] as const);
const ipv6 = IPV6.map(([cidr, name]) => [ipaddr.IPv6.parseCIDR(cidr), name] as const);

/** Name of the special range that contains the address; undefined if it is public, `malformed` unless it is in the usual spelling without a zone. */
export function specialRange(address: string): string | undefined {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return 'malformed';
  if (family === 4) {
    const parsed = ipaddr.IPv4.parse(address);
    return ipv4.find(([range]) => parsed.match(range))?.[1];
  }
  const parsed = ipaddr.IPv6.parse(address);
  const named = ipv6.find(([range]) => parsed.match(range))?.[1];
  return named ?? (parsed.match(GLOBAL_UNICAST) ? undefined : 'reserved');
}

/** Whether the address, or an IPv4 address embedded in it, belongs to a cloud's metadata service or to one of the ranges. */
export function isDenied(address: string, ranges: readonly string[]): boolean {
  if (isIP(address) === 0) return false;
  const meant = formsOf(ipaddr.parse(address));
  return [...METADATA, ...ranges]
    .map(rangeOf)
    .some(([range, bits]) => meant.some((form) => form.kind() === range.kind() && form.match([range, bits] as never)));
}

/** Throws Error unless the text is an address, or a CIDR range without bits set beyond its prefix. */
export function checkRange(text: string): void {
  const [address = '', prefix, ...more] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  const plain = isIP(address) !== 0 && !address.includes('%') && more.length === 0 && (prefix === undefined || /^(0|[1-9]\d{0,2})$/.test(prefix));
  if (!plain || Number(prefix ?? 0) > most) throw new Error('is neither an address nor a CIDR range');
  const [first, bits] = rangeOf(text);
  if (prefix === undefined) return;
  const family = first.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${address}/${bits}`).toString();
  if (network !== first.toString()) throw new Error(`has bits set beyond its prefix: ${network}/${bits} is the range`);
}

function rangeOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function formsOf(address: ipaddr.IPv4 | ipaddr.IPv6): (ipaddr.IPv4 | ipaddr.IPv6)[] {
  if (address.kind() === 'ipv4') return [address];
  const bytes = address.toByteArray();
  const embedded = embedding
    .filter(([prefix]) => (address as ipaddr.IPv6).match(prefix))
    .map(([, places]) => new ipaddr.IPv4(places.map((place) => bytes[place] as number)));
  return [address, ...embedded];
}
