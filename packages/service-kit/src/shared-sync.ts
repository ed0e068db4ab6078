// Statements of a transaction that are sent without waiting for each other share one Sync. pg ends each with a Sync of its own, at
// which PostgreSQL sends what it has: an answer in several packets, each a system call for it and a turn of the event loop for us,
// that nobody can use before the last one is there.
//
// PostgreSQL protocol 3, extended query: after an error PostgreSQL passes over all messages up to the Sync, and says it is ready for more
// at a Sync only.
import type { Writable } from 'node:stream';
import pg from 'pg';

/** A statement of pg's, as far as it is used here. */
export interface SharingQuery {
  readonly name?: string | undefined;
  /** Whether another one that is sent with it has the Sync. */
  sharesSync: boolean;
  /** Whether pg refused to send it. */
  readonly unsent: boolean;
  requiresPreparation(): boolean;
  handleError(error: Error, connection: object): void;
}

/** pg's own. */
interface Client {
  readonly connection: {
    readonly stream: Writable;
    readonly submittedNamedStatements: Record<string, string>;
    sync(): void;
  };
  readonly _sentQueryQueue: SharingQuery[];
  _getActiveQuery(): SharingQuery | null;
  _handleCommandComplete(message: object): void;
  _handleErrorMessage(error: Error): void;
  _handleReadyForQuery(message: { status: string }): void;
  query(query: object): unknown;
}

/** SQLSTATE of a statement in a transaction that has failed. */
const FAILED_TRANSACTION = '25P02';
/** What PostgreSQL says of a transaction that is under way. */
const IN_TRANSACTION = 'T';

export interface Syncs<Q extends SharingQuery> {
  /** Sends a statement, in an explicit transaction, with those that follow before anything is waited for. */
  send(query: Q): void;
}

/** Changes a client of pg that pipelines, before it connects. `prepare` is told of statements that are about to be sent together. */
export function sharedSyncs<Q extends SharingQuery>(given: pg.Client, prepare: (queries: readonly Q[]) => void): Syncs<Q> {
  const client = given as unknown as Client;
  const { connection } = client;
  for (const name of ['_handleCommandComplete', '_handleErrorMessage', '_handleReadyForQuery'] as const)
    if (typeof client[name] !== 'function') throw new Error(`this version of pg has no client.${name}`);
  const sync = connection.sync.bind(connection);
  const completed = client._handleCommandComplete.bind(client);
  const failed = client._handleErrorMessage.bind(client);
  let holding = false;
  let waiting: Q[] = [];

  connection.sync = () => {
    if (!holding) sync();
  };
  client._handleCommandComplete = (message) => {
    const query = client._getActiveQuery();
    completed(message);
    // The next answer is that of the next statement, as if PostgreSQL had said that it is ready.
    if (query?.sharesSync === true) client._handleReadyForQuery({ status: IN_TRANSACTION });
  };
  client._handleErrorMessage = (error) => {
    const query = client._getActiveQuery();
    failed(error);
    if (query?.sharesSync === true) passOver();
  };

  /** What PostgreSQL passes over will have no answer. */
  function passOver(): void {
    const passed: SharingQuery[] = [];
    for (let more = true; more; more = passed.at(-1)?.sharesSync === true) passed.push(client._sentQueryQueue.shift() as SharingQuery);
    for (const { name } of passed) if (name !== undefined) delete connection.submittedNamedStatements[name];
    // After whoever waits for the one that failed has heard of it.
    setImmediate(() => {
      for (const query of passed) query.handleError(aborted(), connection);
    });
  }

  function sendAll(): void {
    const queries = waiting;
    waiting = [];
    connection.stream.cork();
    prepare(queries);
    queries.forEach((query, index) => {
      // A simple query is a Sync as well.
      query.sharesSync = holding = query.requiresPreparation() && queries[index + 1]?.requiresPreparation() === true;
      client.query(query);
    });
    holding = false;
    // What follows in the transaction, its COMMIT perhaps, must not be done without it: of all this, nothing leaves.
    if (queries.some(({ unsent }) => unsent)) connection.stream.destroy();
    else connection.stream.uncork();
  }

  return {
    send(query) {
      if (waiting.push(query) === 1) process.nextTick(sendAll);
    },
  };
}

function aborted(): Error {
  const error = new pg.DatabaseError('a statement that was sent with this one, before it, has failed', 0, 'error');
  error.code = FAILED_TRANSACTION;
  return error;
}
