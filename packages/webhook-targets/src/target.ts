// Where webhooks may be sent (decisions §7). The URL is checked when an endpoint is stored and again before each send; the address is
// checked just before connecting to it. Integrations and the dispatcher share this file, so that they agree.
import { isIP } from 'node:net';
import { ConfigError, isHostName } from '@truckroll/process';
import { isDenied, parseRange, specialRange, type AddressRange } from './address.ts';

/** What the operator allows beyond https to public addresses. */
export interface TargetPolicy {
  readonly allowHttp: boolean;
  /** Exact `address:port` pairs that may be reached even if they are not public, over http too. */
  readonly allowedTargets: readonly string[];
  /** Addresses and CIDR ranges that receive no webhooks, even if `allowedTargets` names them. */
  readonly deniedTargets: readonly AddressRange[];
}

/** A URL that is allowed as a target; the address its name resolves to must still be checked. */
export interface Target {
  readonly url: URL;
  /** The host name, or the address in its usual spelling without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
}

/** Why a URL or address is not allowed; each problem says how to correct it. */
export class TargetProblem extends Error {
  override readonly name = 'TargetProblem';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** Canonical spelling of an address and port: `127.0.0.1:4567`, `[::1]:4567`. */
function hostAndPort(host: string, port: number): string {
  return isIP(host) === 6 ? `${new URL(`http://[${host.replace(/%.*/, '')}]`).hostname}:${port}` : `${host}:${port}`;
}

/** Throws ConfigError naming the entry that is not an exact `address:port`. */
export function checkAllowedTargets(targets: readonly string[]): void {
  for (const target of targets) {
    const [, inBrackets, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(target) ?? [];
    const address = inBrackets ?? plain ?? '';
    const right = isIP(address) !== 0 && Number(port) >= 1 && Number(port) <= 65_535 && hostAndPort(address, Number(port)) === target;
    if (!right) throw new ConfigError(`WEBHOOK_ALLOWED_TARGETS must be addresses with ports, such as 127.0.0.1:4567,[::1]:4567, not ${JSON.stringify(target)}`);
  }
}

/** Throws ConfigError naming the entry that is neither an address nor a range. */
export function parseDeniedTargets(targets: readonly string[]): readonly AddressRange[] {
  return targets.map((target) => {
    try {
      return parseRange(target);
    } catch (error) {
      const problem = `${JSON.stringify(target)} ${(error as Error).message}`;
      throw new ConfigError(`WEBHOOK_DENIED_TARGETS must be addresses or CIDR ranges, such as 203.0.113.7,198.51.100.0/24,2001:db8::/32: ${problem}`, {
        cause: error,
      });
    }
  });
}

const HOST_NAME = 'Give a host name of letters, digits and hyphens, with one dot between its parts, each of at most 63 characters.';

/** Parses a URL as a target; the WHATWG parser turns any numeric notation into the address it means. Throws TargetProblem. */
export function readTarget(text: string, policy: TargetPolicy): Target {
  const url = URL.parse(text);
  if (url === null) throw new TargetProblem(['Give an absolute URL that begins with https://.']);
  const extra = extraProblems(url);
  if (!/^https?:\/\//i.test(text)) throw new TargetProblem(['Give an absolute URL that begins with https://.', ...extra]);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const target: Target = { url, host, port, isAddress: isIP(host) !== 0 };
  const address = target.isAddress ? host : isLoopbackName(host) ? '127.0.0.1' : undefined;
  refuse([
    ...extra,
    ...(port === 0 ? ['Give a port from 1 to 65535.'] : []),
    ...(address === undefined && !isHostName(host) ? [HOST_NAME] : []),
    ...(isLocalName(host) ? ['Give a public host: this name is known on its own network only.'] : []),
    ...addressProblems(target, address, policy),
  ]);
  return target;
}

function extraProblems(url: URL): string[] {
  return [
    ...(url.username === '' && url.password === '' ? [] : ['Leave user name and password out: the signature identifies the sender.']),
    ...(url.hash === '' ? [] : ['Leave out # and what follows it: it is never sent.']),
  ];
}

/** Throws TargetProblem if the address, to which the target's name resolved, must not be connected to. */
export function checkAddress(target: Target, address: string, policy: TargetPolicy): void {
  refuse(addressProblems(target, address, policy));
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new TargetProblem(problems);
}

/** What is wrong with the scheme, and with the address unless it is still unknown. */
function addressProblems({ url, port }: Target, address: string | undefined, policy: TargetPolicy): string[] {
  if (address !== undefined && isDenied(address, policy.deniedTargets))
    return ['Give another host: the operator of this system allows no webhooks to its address.'];
  if (address !== undefined && isAllowed(address, port, policy)) return [];
  const range = address === undefined ? undefined : specialRange(address);
  const remedy = 'The operator can allow this address and port by WEBHOOK_ALLOWED_TARGETS.';
  return [
    ...(range === undefined ? [] : [`Give a public host: its address is not public (${range}). ${remedy}`]),
    ...(url.protocol === 'https:' || policy.allowHttp ? [] : ['Give a URL that begins with https://.']),
  ];
}

/** Names that mean this machine wherever they are used (RFC 6761). */
export function isLoopbackName(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host);
}

/** Names that are not in the public DNS (RFC 6762, RFC 8375, ICANN's .internal). */
function isLocalName(host: string): boolean {
  return /(^|\.)(local|internal|localdomain|home\.arpa)\.?$/i.test(host);
}

function isAllowed(address: string, port: number, { allowedTargets }: TargetPolicy): boolean {
  return isIP(address) !== 0 && allowedTargets.includes(hostAndPort(address, port));
}
