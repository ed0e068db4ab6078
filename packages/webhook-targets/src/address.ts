// Which addresses a webhook may be sent to (decisions §7): only those routed on the public internet.
//
// ipaddr.js knows the IANA special-purpose address registries (RFC 6890 and later additions). Of IPv6 only global unicast is allowed.
// Addresses that embed an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are refused whatever it is: a public target does not need
// them.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
/** The 6bone's range, which was returned (RFC 3701); ipaddr.js counts it as public. */
const RETURNED = ipaddr.IPv6.parseCIDR('3ffe::/16');
const embedding = EMBEDDING.map(([cidr, bytes]) => [ipaddr.IPv6.parseCIDR(cidr), bytes] as const);
const metadata = METADATA.map(rangeOf);

/** An address, and how many of its first bits the range has in common. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Name of the special range that contains the address; undefined if it is public, `malformed` unless it is in the usual spelling without a zone. */
export function specialRange(address: string): string | undefined {
  if (isIP(address) === 0 || address.includes('%')) return 'malformed';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (parsed instanceof ipaddr.IPv4) return undefined;
  return parsed.match(GLOBAL_UNICAST) && !parsed.match(RETURNED) ? undefined : 'reserved';
}

/** Whether the address, in any of its IPv4 and IPv6 forms, belongs to a cloud's metadata service or to one of the ranges. */
export function isDenied(address: string, ranges: readonly AddressRange[]): boolean {
  if (isIP(address) === 0) return false;
  const meant = formsOf(ipaddr.parse(address));
  return [...metadata, ...ranges].some((range) => meant.some((form) => covers(range, form)));
}

/** Throws Error unless the text is an address, or a CIDR range without bits set beyond its prefix. */
export function parseRange(text: string): AddressRange {
  const [address = '', prefix, ...more] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  const plain = isIP(address) !== 0 && !address.includes('%') && more.length === 0 && (prefix === undefined || /^(0|[1-9]\d{0,2})$/.test(prefix));
  if (!plain || Number(prefix ?? 0) > most) throw new Error('is neither an address nor a CIDR range');
  const range = rangeOf(text);
  if (prefix === undefined) return range;
  const [first, bits] = range;
  const family = first.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${address}/${bits}`).toString();
  if (network !== first.toString()) throw new Error(`has bits set beyond its prefix: ${network}/${bits} is the range`);
  return range;
}

function rangeOf(text: string): AddressRange {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether the range contains the address, or names IPv4 addresses by an IPv6 form, and the address is one of them. */
function covers([range, bits]: AddressRange, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (range.kind() === address.kind()) return address.match([range, bits] as never);
  if (range.kind() === 'ipv4') return false;
  const bytes = (address as ipaddr.IPv4).toByteArray();
  return embedding.some(([[prefix, length], offsets]) => {
    // The whole of a translated prefix means the translator, that of mapped addresses IPv4 itself.
    if (bits < length || (bits === length && prefix.range() !== 'ipv4Mapped') || !(range as ipaddr.IPv6).match([prefix, length])) return false;
    const form = prefix.toByteArray();
    offsets.forEach((offset, index) => (form[offset] = bytes[index] as number));
    return new ipaddr.IPv6(form).match([range, bits] as never);
  });
}

function formsOf(address: ipaddr.IPv4 | ipaddr.IPv6): (ipaddr.IPv4 | ipaddr.IPv6)[] {
  if (address.kind() === 'ipv4') return [address];
  const bytes = address.toByteArray();
  const embedded = embedding
    .filter(([prefix]) => (address as ipaddr.IPv6).match(prefix))
    .map(([, offsets]) => new ipaddr.IPv4(offsets.map((offset) => bytes[offset] as number)));
  return [address, ...embedded];
}
