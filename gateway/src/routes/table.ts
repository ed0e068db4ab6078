// Finds the operations at a path. Matches exactly: case, trailing and doubled slashes and percent-encoding matter, so that a proxy that
// filters paths sees the same paths as the gateway. Only the values of placeholders are decoded.
import type { Operation } from '@truckroll/contract';

export interface Match<T> {
  /** Targets by verb. */
  targets: ReadonlyMap<string, T>;
  /** Values of the placeholders, in path order. */
  values: readonly string[];
}

interface Node<T> {
  fixed: Map<string, Node<T>>;
  variable?: Node<T>;
  targets?: Map<string, T>;
}

export type RouteTable<T> = (path: string) => Match<T> | undefined;

export function routeTable<T>(operations: readonly Operation[], compile: (operation: Operation) => T): RouteTable<T> {
  const root: Node<T> = { fixed: new Map() };
  for (const operation of operations) {
    let node = root;
    for (const segment of operation.route.slice(1).split('/')) {
      let next = segment.startsWith('{') ? node.variable : node.fixed.get(segment);
      if (next === undefined) {
        next = { fixed: new Map() };
        if (segment.startsWith('{')) node.variable = next;
        else node.fixed.set(segment, next);
      }
      node = next;
    }
    node.targets ??= new Map();
    if (node.targets.has(operation.verb)) throw new Error(`two operations at ${operation.verb} ${operation.route}`);
    node.targets.set(operation.verb, compile(operation));
  }

  return (path) => {
    if (!path.startsWith('/')) return undefined;
    const values: string[] = [];
    let node = root;
    for (const raw of path.slice(1).split('/')) {
      const fixed = node.fixed.get(raw);
      const next = fixed ?? (raw === '' ? undefined : node.variable);
      if (next === undefined) return undefined;
      if (fixed === undefined) values.push(raw.includes('%') ? decode(raw) : raw);
      node = next;
    }
    return node.targets && { targets: node.targets, values };
  };
}

/** A segment with invalid encoding is kept undecoded: it is no valid id, and the answer says so. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
