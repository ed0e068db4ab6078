// Which addresses a webhook may be sent to (decisions §7): those that the public internet routes, and no others.
//
// Sources: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and what was added since). For IPv6
// the rule is turned round: only global unicast, 2000::/3, is open at all, less what is named below. Forms that carry an
// IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are refused whatever they carry: a public target needs none.
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

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const ipv4 = IPV4.map(([cidr, name]) => [ipaddr.IPv4.parseCIDR(cidr), name] as const);
const ipv6 = IPV6.map(([cidr, name]) => [ipaddr.IPv6.parseCIDR(cidr), name] as const);

/**
 * The name of the special range that the address is in, or undefined where it is a public one. What is no address in
 * its usual spelling (dotted decimal, or IPv6 without a zone) is never public.
 */
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
