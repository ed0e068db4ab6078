import { readFileSync } from 'node:fs';
import { isGrpcTarget, isUrlOf, parseAddress, parseHost } from './addresses.ts';
import { KEY_RING_FORM, parseKeyRing, type KeyRing } from './key-ring.ts';

// Reads the environment once at start, and reports everything missing or invalid together, so that an operator fixes a deployment in one round.

type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  readonly name: string;
  /** What the variable must hold, for the message: "a port number". */
  readonly expected: string;
  /** False if the value is or contains a secret, so that no message ever repeats it. */
  readonly shown: boolean;
  /** `undefined` if the variable is required. */
  readonly fallback: { readonly value: T } | undefined;
  parse(text: string): T | undefined;
  /** Makes a value that may change while the process runs, from a function that reads the file again. */
  readonly live?: (read: () => string) => T;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Config<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Thrown by readConfig; the message has one line for each variable at fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws ConfigError if settings contradict each other. A setting that is missing or invalid is absent. */
export type Check<S extends Settings> = (config: Partial<Config<S>>) => unknown;

/**
 * Reads every setting from the environment. An empty variable counts as absent, because Helm and compose files leave them empty. A
 * secret may be in a file named by `<NAME>_FILE` instead. Throws ConfigError naming everything that is missing or invalid, and what the
 * checks find.
 */
export function readConfig<S extends Settings>(settings: S, environment: Environment, checks: readonly Check<S>[] = []): Config<S> {
  const config: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [key, setting] of Object.entries(settings)) {
    const text = textOf(setting, environment, faults);
    if (text === null) continue;
    if (text === undefined || text === '') {
      if (setting.fallback === undefined) faults.push(`${setting.name} is missing: set it to ${setting.expected}`);
      else config[key] = setting.fallback.value;
      continue;
    }
    const value = setting.parse(text);
    if (value === undefined) {
      const shown = setting.shown ? `, not ${JSON.stringify(text)}` : '';
      faults.push(`${setting.name} is invalid: it must be ${setting.expected}${shown}`);
    } else {
      const file = fileOf(setting, environment);
      config[key] = setting.live === undefined || file === undefined ? value : setting.live(() => contentOf(file));
    }
  }
  for (const check of checks) {
    try {
      check(config as Partial<Config<S>>);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return Object.freeze(config) as Config<S>;
}

/** Undefined if the setting is absent; null if it cannot be read, which is added to `faults`. */
function textOf(setting: Setting<unknown>, environment: Environment, faults: string[]): string | undefined | null {
  const { name } = setting;
  const text = environment[name]?.trim();
  const file = fileOf(setting, environment);
  if (file === undefined) return text;
  if (text !== undefined && text !== '') {
    faults.push(`${name} and ${name}_FILE are both set: leave one of them out`);
    return null;
  }
  try {
    return contentOf(file);
  } catch (error) {
    faults.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
    return null;
  }
}

function fileOf({ name, shown }: Setting<unknown>, environment: Environment): string | undefined {
  return shown ? undefined : environment[`${name}_FILE`]?.trim() || undefined;
}

function contentOf(file: string): string {
  return readFileSync(file, 'utf8').trim();
}

/** The last arguments of a setting's constructor: its default, or nothing if the variable is required. */
export type Default<T> = [] | [fallback: T];

/** Makes a setting. No message repeats the value unless `shown`. */
export function setting<T>(name: string, expected: string, fallback: Default<T>, parse: (text: string) => T | undefined, shown = true): Setting<T> {
  return { name, expected, shown, parse, fallback: fallback.length === 0 ? undefined : { value: fallback[0] } };
}

function wholeNumber(text: string, min: number, max: number): number | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ADDRESS_FORM = 'host:port without a scheme, with a port from 1 to 65535';

const addressOf = (text: string): string | undefined => (parseAddress(text) === undefined ? undefined : text);

const urlOf = (schemes: readonly string[]) => (text: string) => (isUrlOf(schemes, text) ? text : undefined);

function urlForm(schemes: readonly string[]): string {
  return `a URL that begins with ${schemes.map((scheme) => (scheme === 'mailto' ? 'mailto:' : `${scheme}://`)).join(' or ')}, with a host and, if any, a port from 1 to 65535`;
}

/** Constructors of settings. The last argument is the default; without one the variable is required. */
export const env = {
  string: (name: string, ...fallback: Default<string>) => setting(name, 'a text', fallback, (text) => text),

  /** A text that no message repeats: a password, a key. */
  secret: (name: string, ...fallback: Default<string>) => setting(name, 'a secret', fallback, (text) => text, false),

  optionalSecret: (name: string) => setting<string | undefined>(name, 'a secret', [undefined], (text) => text, false),

  keyRing: (name: string) => setting<KeyRing>(name, KEY_RING_FORM, [], parseKeyRing, false),

  optional: (name: string) => setting<string | undefined>(name, 'a text', [undefined], (text) => text),

  /** A URL of one of these schemes, as text; it may hold a password, so it is never repeated. */
  url: (name: string, schemes: readonly string[], ...fallback: Default<string>) => setting(name, urlForm(schemes), fallback, urlOf(schemes), false),

  optionalUrl: (name: string, schemes: readonly string[]) => setting<string | undefined>(name, urlForm(schemes), [undefined], urlOf(schemes), false),

  /** Address to listen on, without brackets. */
  listenAddress: (name: string, ...fallback: Default<string>) =>
    setting(name, 'an address of this machine, such as 0.0.0.0 or, for IPv6 and IPv4, ::', fallback, parseHost),

  /** `host:port` of a peer. */
  address: (name: string, ...fallback: Default<string>) =>
    setting(name, `${ADDRESS_FORM}, such as billing:50052 or [2001:db8::1]:50052`, fallback, (text) => (isGrpcTarget(text) ? text : addressOf(text))),

  /** Comma-separated addresses of peers, each `host:port`. */
  addresses: (name: string, ...fallback: Default<readonly string[]>) =>
    setting<readonly string[]>(name, `a comma-separated list of addresses, each ${ADDRESS_FORM}, such as kafka:9092,[2001:db8::1]:9092`, fallback, (text) => {
      const found = text.split(',').map((item) => addressOf(item.trim()));
      return found.every((address) => address !== undefined) ? found : undefined;
    }),

  /** 0 asks the kernel for a free port. */
  port: (name: string, ...fallback: Default<number>) => setting(name, 'a port number from 0 to 65535', fallback, (text) => wholeNumber(text, 0, 65_535)),

  integer: (name: string, limits: { min?: number; max?: number }, ...fallback: Default<number>) => {
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = limits;
    return setting(name, `a whole number from ${min} to ${max}`, fallback, (text) => wholeNumber(text, min, max));
  },

  boolean: (name: string, ...fallback: Default<boolean>) =>
    setting(name, '"true" or "false"', fallback, (text) => (text === 'true' ? true : text === 'false' ? false : undefined)),

  oneOf: <const T extends string>(name: string, values: readonly T[], ...fallback: Default<NoInfer<T>>) =>
    setting<T>(name, `one of ${values.join(', ')}`, fallback, (text) => values.find((value) => value === text)),

  /** Milliseconds, written with a unit: 250ms, 5s, 2m, 1h, 30d. */
  duration: (name: string, ...fallback: Default<number>) =>
    setting(name, 'a duration with a unit, such as 250ms, 5s or 2m', fallback, (text) => {
      const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
      return match ? Number(match[1]) * (DURATION_UNITS[match[2]!] ?? 1) : undefined;
    }),

  /** Comma-separated; empty items are dropped. */
  list: (name: string, ...fallback: Default<readonly string[]>) =>
    setting<readonly string[]>(name, 'a comma-separated list', fallback, (text) => {
      const items = text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
      return items.length > 0 ? items : undefined;
    }),
};
