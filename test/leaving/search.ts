// Searches everything that the services have stored for texts: rows, topics and Redis.
import { topics } from '@truckroll/contract';
import type { Database } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { redisCli } from '@truckroll/testing';
import { createKafka, replay, type IncomingEvent } from '../../packages/outbox/src/index.ts';
import { SCHEMAS } from '../support/components.ts';

/** Rows that contain one of the texts in any column, as text or in the bytes of a document, by schema and table. */
export async function rowsWith(database: Database, texts: readonly string[]): Promise<Record<string, number>> {
  const { rows: tables } = await database.query<{ name: string }>({
    text: `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    values: [SCHEMAS.map(({ schema }) => schema)],
  });
  const patterns = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]).map((text) => `%${text}%`);
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await database.query<{ count: number }>({
      text: `select count(*) from ${name} t where t::text ilike any($1::text[])`,
      values: [patterns],
    });
    const count = rows[0]?.count ?? 0;
    if (count > 0) found[name] = count;
  }
  return found;
}

/** Keys of topics of state whose latest message contains one of the texts, and messages of the topic that keeps all. */
export async function messagesWith(kafka: { brokers: string; prefix: string }, texts: readonly string[]): Promise<{ state: string[]; kept: IncomingEvent[] }> {
  const client = createKafka('search', { kafkaBrokers: kafka.brokers.split(','), kafkaPrefix: kafka.prefix }, silentLog);
  const [state, kept]: [string[], IncomingEvent[]] = [[], []];
  for (const topic of Object.values(topics).filter(({ keeps }) => keeps === 'latest' || keeps === 'all')) {
    const latest = new Map<string, IncomingEvent>();
    const apply = async (events: readonly IncomingEvent[]): Promise<void> => {
      for (const event of events) {
        if (topic.keeps === 'all') kept.push(event);
        else latest.set(event.key, event);
      }
    };
    await replay({ kafka: client, topic, signal: new AbortController().signal, progress: () => undefined, apply });
    for (const { key, payload } of latest.values()) {
      if (payload !== null && texts.some((text) => key.includes(text) || payload.includes(text))) state.push(`${topic.name} ${key}`);
    }
  }
  return { state, kept: kept.filter(({ key }) => texts.some((text) => key.includes(text))) };
}

const KEYS = `local found = {}
for _, key in ipairs(redis.call('KEYS', 'truckroll:*')) do
  local value = redis.call('TYPE', key).ok == 'string' and redis.call('GET', key) or ''
  for _, text in ipairs(ARGV) do
    if string.find(key .. ' ' .. value, text, 1, true) then table.insert(found, redis.call('TTL', key)) end
  end
end
return found`;

/** Seconds for which Redis keeps each key that contains one of the texts, in its name or value; -1 forever. */
export async function redisKeysWith(url: string, texts: readonly string[]): Promise<number[]> {
  const answer = await redisCli('-u', url, 'EVAL', KEYS, '0', ...texts);
  return answer
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}
