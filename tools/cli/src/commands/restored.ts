import { formatInstant, type Owner } from '@truckroll/contract';
import { createKafka, kafkaSettings, relayLock, type KafkaClient } from '@truckroll/outbox';
import { Database, PoolerError, createSession, isUnavailable } from '@truckroll/postgres';
import { pause } from '@truckroll/process';
import { silentLog } from '@truckroll/telemetry';
import type { Command } from 'commander';
import { durationOption, moment } from '../arguments.ts';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { groupsAtWork } from '../restored/outdated.ts';
import type { Renewed } from '../restored/renew.ts';
import type { Session } from '../session.ts';
import { table, type Columns } from '@truckroll/integrator-cli/terminal/table';

const HELP = `
Run it after PostgreSQL was restored to an earlier moment (a backup, a point in time), before any component starts. Topics and
consumers have seen records that are no longer in the database. This command begins a new epoch: all stored records are
published again, lost records are removed from topics and read models, and consumers skip everything published before.
Services publish their records when they start; \`truckroll verify\` then finds no differences.

Prints webhook deliveries that may be sent twice, because they may have been sent after the backup; published events that are
missing from the restored database; and messages that are not sent, because they may have been sent already (UNKNOWN).

DATABASE_URL names the database and a role that is a member of each schema's owner, as for \`truckroll migrate\`; BILLING_DATABASE_URL
and its like name the server of one service. If services have separate servers, --restored-to is the earliest moment to which one of them
was restored, also if only one was. KAFKA_BROKERS and the other KAFKA_ variables are those of the services; with ACLs the user needs to
read every topic and alter the services' groups.

Companies that were deleted after the backup (\`truckroll company delete\`) are deleted again by the services when they start, and people who
were erased (\`truckroll person erase\`) are erased again.

It is safe to repeat, even after an interruption, until a component has started.

Examples:
  DATABASE_URL=postgres://truckroll_migrate:…@db/truckroll KAFKA_BROKERS=kafka:9092 truckroll restored
  truckroll --json restored --lag 6h > restored.json    # webhooks were hours behind at that moment`;

interface Options {
  /** Microseconds. */
  restoredTo?: number;
  /** Seconds. */
  lag: number;
  /** Seconds. */
  wait: number;
}

const POLL_MS = 500;

export function register(program: Command, session: Session): void {
  program
    .command('restored')
    .description('After PostgreSQL was restored to an earlier moment: publish all records again, and remove lost ones from read models.')
    .option('--restored-to <moment>', 'the earliest moment to which a server was restored, if services have separate servers', moment)
    .addOption(durationOption('--lag <duration>', 'how far webhooks may have been behind at the restored moment', '1h'))
    .addOption(durationOption('--wait <duration>', 'how long to wait for services that are still stopping', '15s'))
    .addHelpText('after', HELP)
    .action(async ({ restoredTo, lag, wait }: Options) => {
      // Loaded here, because other commands do not need the services.
      const { SERVICES, renew } = await import('../restored/renew.ts');
      const kafka = createKafka('restored', session.kafka(kafkaSettings()), silentLog);
      const groups = SERVICES.flatMap((service) => service.groups.map(({ group }) => group));
      const settings = { statementTimeoutMs: 0, applicationName: 'truckroll-restored' };
      const servers = SERVICES.map(({ schema }) => ({ schema, ...session.database(schema as Owner) }));
      if (restoredTo === undefined && new Set(servers.map(({ url }) => url)).size > 1) {
        throw new Failure('Services have separate servers: give --restored-to the earliest moment to which one was restored, such as 2027-01-31T09:59:00Z.');
      }
      const databases = new Map(servers.map(({ schema, url }) => [schema, new Database({ url, schema, maxConnections: 2, ...settings })]));
      const locks: Lock[] = [];
      try {
        for (const { schema, url, variable } of servers) {
          const connection = await createSession({ url, ...settings }).catch((error: unknown) => {
            throw away(error, `PostgreSQL of ${schema}`, variable);
          });
          locks.push({ schema, connection });
        }
        await stopped(until(wait), session.io.signal, async () => [...(await relaysAtWork(locks)), ...(await consumersAtWork(kafka, groups))]);
        const progress = createProgress(session.io, 'reading topics', 'events', session.json);
        const say = (line: string): void => {
          progress.clear();
          session.note(line);
        };
        const output = { say, progress: (events: number, share: number): void => progress.update(events, share, 1) };
        const renewed = await renew({ databases, kafka, restoredTo, lagSeconds: lag, signal: session.io.signal, ...output }).finally(progress.end);
        session.print(renewed, describe(renewed));
      } finally {
        for (const database of databases.values()) await database.close();
        for (const { connection } of locks) await connection.close();
      }
    });
}

const until = (wait: number): number => performance.now() + wait * 1000;

/** Waits until nothing is running any more. Throws Failure that names what still runs. */
async function stopped(deadline: number, signal: AbortSignal, look: () => Promise<string[]>): Promise<void> {
  for (;;) {
    const working = [...new Set(await look())];
    if (working.length === 0) return;
    signal.throwIfAborted();
    if (performance.now() > deadline) {
      throw new Failure(
        `${working.join(', ')} still run: stop every component first (npm start, or all Deployments), because what they publish until then would be lost.`,
        EXIT.refused,
      );
    }
    await pause(POLL_MS, signal);
  }
}

/** A connection to the server of a schema, which holds the lock of its relay. */
interface Lock {
  readonly schema: string;
  readonly connection: Awaited<ReturnType<typeof createSession>>;
}

/** Takes the locks of the owners' relays and keeps them until the connections end. Returns the schemas whose relay still runs. */
async function relaysAtWork(locks: readonly Lock[]): Promise<string[]> {
  const working: string[] = [];
  for (const { schema, connection } of locks) {
    const { rows } = await connection.query<{ locked: boolean }>({
      text: 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
      values: [relayLock(schema)],
    });
    if (rows[0]?.locked !== true) working.push(schema);
  }
  return working;
}

async function consumersAtWork(kafka: KafkaClient, groups: readonly string[]): Promise<string[]> {
  return groupsAtWork(kafka, groups).catch((error: unknown) => {
    throw new Failure(`Kafka does not answer: correct KAFKA_BROKERS (${(error as Error).message}).`, EXIT.unreachable, error);
  });
}

function away(error: unknown, what: string, variable: string): unknown {
  if (error instanceof PoolerError) return new Failure(error.message, EXIT.refused, error);
  return isUnavailable(error) ? new Failure(`${what} does not answer: correct ${variable}.`, EXIT.unreachable, error) : error;
}

function describe({ epoch, asOf, removed, repeated, undone, deliveries, messages, mails, erased, erasedPeople, frozen }: Renewed): string {
  const gone = Object.entries(removed)
    .filter(([, count]) => count > 0)
    .map(([topic, count]) => `${topic}: ${count} keys are gone`);
  return [
    ...gone,
    table(deliveries, DELIVERIES, ''),
    `${deliveries.length} deliveries may be sent twice`,
    table(undone, UNDONE, ''),
    `${undone.length} events were published that the restored database does not have`,
    table(messages, MESSAGES, ''),
    `${messages.length} messages to customers and ${mails.length} e-mails to users are not sent, as they may have been`,
    erased.length === 0 ? '' : `${erased.length} companies were deleted before: the services delete them again as soon as they run`,
    erasedPeople === 0 ? '' : `${erasedPeople} people were erased before: the services erase them again as soon as they run`,
    frozen.length === 0
      ? ''
      : `${frozen.length} companies were frozen and can be changed again: freeze them again, or run truckroll company unfreeze, once the services run (${frozen.join(', ')}). One that is being moved needs what docs/how-to/move-a-company.md says`,
    `epoch ${epoch} has begun; the database is as of ${asOf === undefined ? 'an unknown moment' : formatInstant(asOf)} or later. ${repeated} events are published again.`,
    'Start the services: they publish what they hold. When reports are fresh again, truckroll verify is clean.',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const DELIVERIES: Columns<Renewed['deliveries'][number]> = {
  company: (row) => row.company_id,
  endpoint: (row) => row.endpoint_id,
  url: (row) => row.url,
  'webhook-id': (row) => row.event_id,
  type: (row) => row.event_type,
  subject: (row) => row.subject,
  sequence: (row) => String(row.sequence),
};

const UNDONE: Columns<Renewed['undone'][number]> = {
  company: (row) => row.companyId,
  'webhook-id': (row) => row.id,
  type: (row) => row.type,
  subject: (row) => row.subject,
  sequence: (row) => String(row.sequence),
};

const MESSAGES: Columns<Renewed['messages'][number]> = {
  company: (row) => row.company_id,
  notification: (row) => row.id,
  channel: (row) => row.channel,
  address: (row) => row.address,
};
