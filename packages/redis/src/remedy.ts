const REMEDIES: readonly (readonly [answer: RegExp, remedy: string])[] = [
  [/^(MOVED|ASK|CROSSSLOT)\b/, 'the server is one node of a Redis Cluster: begin REDIS_URL with redis+cluster://'],
  [/cluster support disabled/, 'the server is not part of a Redis Cluster: begin REDIS_URL with redis://'],
  [/^READONLY\b/, 'the server is a read-only replica: name the master in REDIS_URL, or Sentinels with redis+sentinel://'],
  [/^OOM\b/, 'the server has used its maxmemory: raise it, or set maxmemory-policy to volatile-ttl'],
  [/unknown command '?SET\b/i, 'the server is a Sentinel: begin REDIS_URL with redis+sentinel://'],
  [/unknown command '?SENTINEL\b/i, 'the server is not a Sentinel: name the Sentinels in REDIS_URL, on port 26379 by default'],
  [/watches no master/, 'correct the name of the master at the end of REDIS_URL'],
  [/^(NOAUTH|WRONGPASS)\b/, 'Redis refuses the user or the password: correct them in REDIS_URL'],
  [/^NOPERM\b/, 'the user of REDIS_URL lacks a permission: see "Redis rights" in docs/how-to/install.md'],
];

/** Advice for an error; undefined if the message is clear enough or the error may pass. */
export function remedyOf(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : String(error);
  return REMEDIES.find(([answer]) => answer.test(text))?.[1];
}
