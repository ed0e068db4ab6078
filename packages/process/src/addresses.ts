// Addresses in settings: hosts, `host:port` and URLs. An IPv6 address is in brackets wherever a port may follow it.
import { isIPv4, isIPv6 } from 'node:net';

export interface HostAndPort {
  /** A name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A part of a host name. Host names in DNS have no underscores, but those of container networks do. */
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?=.{1,253}\\.?$)${LABEL}(?:\\.${LABEL})*\\.?$`, 'i');

/** The host that a text names, without the brackets of an IPv6 address. Undefined if it is neither a name nor an IP address. */
export function parseHost(text: string): string | undefined {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  if (isIPv4(text) || isIPv6(text)) return text;
  // Digits and dots that are no IPv4 address: a mistyped one.
  return isHostName(text) && !/^[\d.]+$/.test(text) ? text : undefined;
}

/** Whether the text has the form of a host name: labels of at most 63 characters, each after one dot. A dot may follow the last. */
export function isHostName(text: string): boolean {
  return NAME.test(text);
}

/** A sentence about HOST if listening failed because the machine does not have this address. Undefined for any other error. */
export function missingAddress(error: unknown, host: string): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') return undefined;
  return `HOST is ${host}, and this machine has no such address: set HOST to one of its addresses, or to 0.0.0.0 for all IPv4 addresses`;
}

/** Undefined if the text is not `host:port` with a port from 1 to 65535. The port may be missing if there is a default. */
export function parseAddress(text: string, defaultPort?: number): HostAndPort | undefined {
  const [, hostText = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(hostText);
  const port = portText === undefined ? defaultPort : Number(portText);
  return host === undefined || port === undefined || !isPort(port) ? undefined : { host, port };
}

/** Whether the text is a gRPC target with a scheme, such as `ipv4:10.0.0.1:50051,10.0.0.2:50051`, which lists replicas that no name has. */
export function isGrpcTarget(text: string): boolean {
  return /^(?:dns|ipv4|ipv6|unix):./.test(text);
}

/** `host:port`, with brackets around an IPv6 address. */
export function formatAddress(host: string, port: number | string): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Whether the text is a URL of one of these schemes with a host. A `mailto` URL needs an address instead. */
export function isUrlOf(schemes: readonly string[], text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !schemes.includes(url.protocol.slice(0, -1))) return false;
  if (url.protocol === 'mailto:') return url.pathname.includes('@');
  return parseHost(url.hostname) !== undefined && (url.port === '' || isPort(Number(url.port)));
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
