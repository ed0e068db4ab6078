// Assigns the time of a stack to the innermost function that a rule matches. Time in a Node library therefore counts for its caller,
// unless a rule names the library.
import type { Frame, Stack } from './cpu-profile.ts';

const RULES: readonly (readonly [pattern: RegExp, group: string])[] = [
  [/\/contract\/src\/json-(writer|buffer|plan)/, 'JSON from wire bytes'],
  [/\/contract\/src\//, 'contract: messages, checks'],
  [/\/record-store\/src\//, 'records: statement, assembly'],
  [/\/gateway\/src\/auth\//, 'authentication and limits'],
  [/\/gateway\/src\/http\/request-log/, 'log'],
  [/\/gateway\/src\/admission\//, 'admission'],
  [/\/gateway\/src\/routes\/cursor/, 'cursors'],
  [/\/gateway\/src\//, 'gateway: routing, query, answer'],
  [/\/telemetry\/src\/log\.ts/, 'log'],
  [/\/telemetry\/src\//, 'metrics, traces'],
  [/\/process\/src\/(sealing|key-ring)\./, 'cursors'],
  [/\/process\/src\/fair-queue\./, 'admission'],
  [/\/process\/src\//, 'process'],
  [/\/grpc\/src\//, 'gRPC: ours'],
  [/\/postgres\/src\//, 'database: ours'],
  [/\/services\//, 'service: rules and statements'],
  [/node_modules\/@grpc\//, 'gRPC: grpc-js'],
  [/node_modules\/(express|router|proxy-addr|forwarded|ipaddr\.js|finalhandler)\//, 'Express'],
  [/node_modules\/(pg|pg-[a-z]+|postgres-[a-z]+)\//, 'database: pg'],
  [/node_modules\/(@redis|redis|rate-limiter-flexible)\//, 'authentication and limits'],
  [/node_modules\/(pino|sonic-boom|safe-stable-stringify|quick-format-unescaped)/, 'log'],
  [/node_modules\/prom-client\//, 'metrics'],
  [/node_modules\/kafkajs\//, 'Kafka'],
  [/node_modules\/undici\//, 'HTTP/1.1: undici'],
  [/^node:internal\/http2/, 'HTTP/2: node'],
  [/^node:(_http|internal\/http$)/, 'HTTP/1.1: node'],
];

const OUTSIDE: Readonly<Record<string, string>> = {
  '(garbage collector)': 'garbage collection',
  '(program)': 'outside JavaScript: system calls, parsers',
};

function groupOf(frames: readonly Frame[]): string {
  const outside = OUTSIDE[frames.at(-1)?.functionName ?? ''];
  if (outside !== undefined) return outside;
  for (const { url } of frames.toReversed()) {
    const rule = url === '' ? undefined : RULES.find(([pattern]) => pattern.test(url));
    if (rule !== undefined) return rule[1];
  }
  return 'Node: other';
}

/** Microseconds by group, largest first. */
export function byGroup(stacks: readonly Stack[]): Map<string, number> {
  const groups = new Map<string, number>();
  for (const { frames, micros } of stacks) groups.set(groupOf(frames), (groups.get(groupOf(frames)) ?? 0) + micros);
  return new Map([...groups].toSorted(([, a], [, b]) => b - a));
}
