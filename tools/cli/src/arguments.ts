import type { DemoOptions } from '@truckroll/demo-company';
import { beyondInstants, formatInstant, now, parseDate, parseInstant } from '@truckroll/contract';
import { positiveInteger } from '@truckroll/integrator-cli/terminal/arguments';
import { InvalidArgumentError, Option } from 'commander';

/** A limit; 0 for `default`. */
export function limitOrDefault(text: string): number {
  return text === 'default' ? 0 : positiveInteger(text);
}

export function seedNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value > 0xffffffff) throw new InvalidArgumentError('Give a whole number from 0 to 4294967295.');
  return value;
}

/** A named size of generated records, or a number of jobs. The generator refuses what it does not know. */
export function demoSize(text: string): DemoOptions['size'] {
  return /^\d+$/.test(text) ? Number(text) : (text as DemoOptions['size']);
}

export function onOff(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('Give on or off.');
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration such as 30m, 8h or 90d in seconds. */
export function seconds(text: string): number {
  const match = /^(\d{1,7})([smhd])$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Give a duration such as 30m, 8h or 90d.');
  return Number(match[1]) * (UNITS[match[2] as string] as number);
}

/** An option in seconds, whose help shows the default as it can be given. */
export function durationOption(flags: string, description: string, byDefault: string): Option {
  return new Option(flags, description).argParser(seconds).default(seconds(byDefault), byDefault);
}

/** An instant in microseconds: a date-time, a date (its first instant in UTC), or a duration from now. */
export function moment(text: string): number {
  const days = parseDate(text);
  const instant = parseInstant(text) ?? (days === undefined ? undefined : parseInstant(`${text}T00:00:00Z`));
  if (instant !== undefined) return instant;
  if (!/^\d+[smhd]$/.test(text)) throw new InvalidArgumentError('Give a date-time such as 2027-01-31T00:00:00Z, a date, or a duration such as 90d.');
  return now() + seconds(text) * 1_000_000;
}

/** When something expires, in microseconds; null if that is beyond the range of instants. */
export function expiry(text: string): number | null {
  return beyondInstants(parseDate(text) === undefined ? text : `${text}T00:00:00Z`) === 'after' ? null : moment(text);
}

export const isoNow = (): string => formatInstant(Math.floor(now() / 1_000_000) * 1_000_000);
