import { parseAddress, type HostAndPort, type Setting } from '@truckroll/process';

export type RedisNode = HostAndPort;

export interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly tls: boolean;
}

export type RedisServers =
  | { readonly kind: 'single'; readonly url: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisNode[]; readonly login: Login }
  | {
      readonly kind: 'sentinel';
      readonly nodes: readonly RedisNode[];
      /** The master's name in the Sentinels' configuration. */
      readonly master: string;
      /** For the master. */
      readonly login: Login;
      readonly sentinelLogin: Login;
    };

const FORM =
  'redis://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name-of-the-master, ' +
  'each with rediss for TLS and user:password@ before the first host where they are needed';
const SINGLE = /^rediss?:\/\/[^?#]*$/;
const SEVERAL =
  /^redis(?<tls>s?)\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;
const DEFAULT_PORT = { single: 6379, cluster: 6379, sentinel: 26379 } as const;
const SENTINEL_QUERY = ['sentinel_username', 'sentinel_password'];

/** A required setting that holds a Redis URL. The URL may contain a password, so no message repeats it. */
export function redisSetting(name: string): Setting<RedisServers> {
  return { name, expected: FORM, shown: false, fallback: undefined, parse: parseRedisUrl };
}

export function parseRedisUrl(text: string): RedisServers | undefined {
  if (SINGLE.test(text)) {
    const url = URL.parse(text);
    return url !== null && /^(\/\d*)?$/.test(url.pathname) && parseAddress(url.host, DEFAULT_PORT.single) !== undefined
      ? { kind: 'single', url: text }
      : undefined;
  }
  const { kind, tls, user, password, hosts = '', path = '', query = '' } = SEVERAL.exec(text)?.groups ?? {};
  if (kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const nodes = hosts.split(',').map((host) => parseAddress(host.trim(), DEFAULT_PORT[kind]));
  const parameters = new URLSearchParams(query);
  try {
    const login = loginOf(decoded(user), decoded(password), tls === 's');
    const known = [...parameters.keys()].every((name) => kind === 'sentinel' && SENTINEL_QUERY.includes(name));
    if (!nodes.every((node) => node !== undefined) || !known) return undefined;
    if (kind === 'cluster') return path === '' || path === '/' ? { kind, nodes, login } : undefined;
    const master = decoded(path.slice(1));
    if (master === undefined || master.includes('/')) return undefined;
    const [sentinelUsername, sentinelPassword] = SENTINEL_QUERY.map((name) => parameters.get(name) ?? undefined);
    return { kind, nodes, master, login, sentinelLogin: loginOf(sentinelUsername, sentinelPassword, login.tls) };
  } catch {
    return undefined;
  }
}

function loginOf(username: string | undefined, password: string | undefined, tls: boolean): Login {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }), tls };
}

function decoded(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : decodeURIComponent(text);
}
