// The contract's routes as Express's router takes them. It matches exactly: case, trailing and doubled slashes and percent-encoding matter,
// so that a proxy that filters paths sees the same paths as the gateway. Only the values of placeholders are decoded.
import type { Operation } from '@truckroll/contract';

interface Target {
  readonly operation: Pick<Operation, 'verb' | 'route'>;
}

export interface RoutePath<T> {
  /** `/v1/jobs/:id` */
  path: string;
  targets: readonly T[];
}

/** Targets by path. Fixed segments come before placeholders, because the first path that matches is taken. */
export function pathsOf<T extends Target>(targets: readonly T[]): RoutePath<T>[] {
  const byShape = Map.groupBy(targets, ({ operation }) => operation.route.replace(/\{\w+\}/g, '{}'));
  // `{` sorts after everything else that a route contains.
  const sorted = [...byShape].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, group]) => {
    const verbs = new Set<string>();
    for (const { operation } of group) {
      if (verbs.has(operation.verb)) throw new Error(`two operations at ${operation.verb} ${operation.route}`);
      verbs.add(operation.verb);
    }
    return { path: (group[0] as T).operation.route.replace(/\{(\w+)\}/g, ':$1'), targets: group };
  });
}

/** The URL for Express's router, which would reject invalid percent-encoding: such a segment is encoded, so that it is decoded to itself. */
export function routableUrl(url: string, { path, query }: { path: string; query: string }): string {
  if (url.startsWith('/') && !/[%#\s]/.test(path)) return url;
  const segments = path.split('/').map((segment) => (isEncoded(segment) ? segment : segment.replaceAll('%', '%25')));
  return `${segments.join('/').replace(/[#\s]/g, encodeURIComponent)}${query === '' ? '' : `?${query}`}`;
}

function isEncoded(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
