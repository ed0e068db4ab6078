// Headers that announce what will be removed (decisions §9): Deprecation (RFC 9745), Sunset (RFC 8594), and a link to read more.
import type { Deprecation, Field, Operation, Shape } from '@truckroll/contract';
import type { Headers } from './answer.ts';
import { rootFrom } from './exchange.ts';

const CHANGELOG = 'docs/changelog';

/** Returns an answer's headers. `used` returns the fields that the request gave; it is called only if one of them may be deprecated. */
export type Announce = (used: () => readonly Field[]) => Headers;

/** Compiles an operation's announcements: of the operation, of the fields in its answers, and of the fields that a request used. */
export function compileDeprecation({ route, deprecation, response, parameters, bodyFields }: Operation, base: string): Announce {
  const changelog = `${base === '' ? rootFrom(route) : `${base}/`}${CHANGELOG}`;
  const always = [deprecation, ...deprecatedIn(response)];
  const lasting = headersOf(always, changelog);
  const concerned = [...parameters.map(({ field }) => field), ...bodyFields].some((field) => field.deprecation !== undefined);
  if (!concerned) return () => lasting;
  return (used) => headersOf([...always, ...used().map((field) => field.deprecation)], changelog);
}

/** If several things are deprecated, announces the one with the earliest sunset. */
function headersOf(all: readonly (Deprecation | undefined)[], changelog: string): Headers {
  const [first] = all.filter((each) => each !== undefined).toSorted((a, b) => a.sunset.localeCompare(b.sunset));
  if (first === undefined) return [];
  return [
    'Deprecation',
    `@${Date.parse(first.since) / 1000}`,
    'Sunset',
    new Date(first.sunset).toUTCString(),
    'Link',
    `<${changelog}>; rel="deprecation"; type="text/html"`,
  ];
}

function deprecatedIn(shape: Shape, seen = new Set<Shape>()): Deprecation[] {
  if (seen.has(shape)) return [];
  seen.add(shape);
  return shape.fields.flatMap((field) => [...(field.deprecation ? [field.deprecation] : []), ...(field.shape ? deprecatedIn(field.shape, seen) : [])]);
}
