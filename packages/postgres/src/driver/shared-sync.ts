// Makes pipelined statements of a transaction share one Sync.
//
// Fault: in pipeline mode pg ends each statement with a Sync, at which PostgreSQL flushes its answer: several packets, each a system call
// there and an event loop turn here, although no caller can continue before the last one.
// Upstream: brianc/node-postgres#2646 asks for pipelining; no issue about sharing a Sync known.
// Ends: with a version of pg that sends the statements of a transaction with one Sync.
//
// PostgreSQL protocol 3, extended query: after an error PostgreSQL skips all messages up to the Sync, and reports that it is ready for
// more only at a Sync.
import type { Writable } from 'node:stream';
import pg from 'pg';

export interface SharingQuery {
  readonly name?: string | undefined;
  /** Whether the Sync is sent by a later statement of the same batch. */
  sharesSync: boolean;
  /** Whether pg refused to send it. */
  readonly unsent: boolean;
  requiresPreparation(): boolean;
  handleError(error: Error, connection: object): void;
}

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

const FAILED_TRANSACTION = '25P02';
const IN_TRANSACTION = 'T';

/**
 * Patches a pipelining pg client before it connects. `prepare` is called with statements about to be sent together. The result queues a
 * statement of an explicit transaction; it is sent together with others of the same tick.
 */
export function sharedSyncs<Q extends SharingQuery>(given: pg.Client, prepare: (queries: readonly Q[]) => void): (query: Q) => void {
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
    // Simulates PostgreSQL's ready message, so that the next answer goes to the next statement.
    if (query?.sharesSync === true) client._handleReadyForQuery({ status: IN_TRANSACTION });
  };
  client._handleErrorMessage = (error) => {
    const query = client._getActiveQuery();
    failed(error);
    if (query?.sharesSync === true) passOver();
  };

  /** Fails the statements that PostgreSQL skips up to the Sync, since they get no answers. */
  function passOver(): void {
    const passed: SharingQuery[] = [];
    for (let more = true; more; more = passed.at(-1)?.sharesSync === true) passed.push(client._sentQueryQueue.shift() as SharingQuery);
    for (const { name } of passed) if (name !== undefined) delete connection.submittedNamedStatements[name];
    // Deferred, so that the statement that failed rejects first.
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
      // A simple query includes a Sync.
      query.sharesSync = holding = query.requiresPreparation() && queries[index + 1]?.requiresPreparation() === true;
      client.query(query);
    });
    holding = false;
    // If one was not sent, later statements such as COMMIT must not run without it, so nothing is sent at all.
    if (queries.some(({ unsent }) => unsent)) connection.stream.destroy();
    else connection.stream.uncork();
  }

  return (query) => {
    if (waiting.push(query) === 1) process.nextTick(sendAll);
  };
}

function aborted(): Error {
  const error = new pg.DatabaseError('a statement that was sent with this one, before it, has failed', 0, 'error');
  error.code = FAILED_TRANSACTION;
  return error;
}
