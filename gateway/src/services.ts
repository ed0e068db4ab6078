// Channels to the services that own the data.
import { ApiError, owners, resources, type Operation, type Owner } from '@truckroll/contract';
import { checkServing, openChannel, type Channel, type ResponseMetadata } from '@truckroll/grpc';
import { logOutage, retrying } from '@truckroll/process';
import { isSampled, type Logger, type Metrics } from '@truckroll/telemetry';
import { batchReads, isBatchable } from './batch-reads.ts';
import type { GatewayConfig } from './config.ts';
import type { Exchange } from './http/exchange.ts';

/** Deadline of one check of a service, in ms. */
const CHECK_MS = 1000;
/** Pauses between checks of a service that is not serving yet. */
const CHECK_BACKOFF = { firstMs: 100, mostMs: 1000 };

export interface ServiceAnswer {
  bytes: Buffer;
  /** Response metadata; reads have none. */
  metadata?: ResponseMetadata;
}

export interface Services {
  readonly channels: Readonly<Record<Owner, Channel>>;
  /** Returns the function that calls an operation's rpc. It rejects with ApiError, or at once if the client goes away. */
  call(operation: Operation): (request: Buffer, exchange: Exchange) => Promise<ServiceAnswer>;
  /** Checks each service, at least once a second, until it has answered a call. Resolves when all have. Rejects when aborted. */
  allServing(log: Logger, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** By cell. Without CELLS there is one, without a name. */
export function connectCells(config: GatewayConfig, metrics: Metrics): ReadonlyMap<string | undefined, Services> {
  const own = Object.fromEntries(owners.map((owner) => [owner, config[`${owner}Address`]])) as Record<Owner, string>;
  if (config.cells === undefined) return new Map([[undefined, connectServices(own, config, metrics)]]);
  const cells = [[config.cell, own] as const, ...config.cells];
  return new Map(cells.map(([cell, addresses]) => [cell, connectServices(addresses, config, metrics)]));
}

function connectServices(addresses: Readonly<Record<Owner, string>>, config: GatewayConfig, metrics: Metrics): Services {
  const open = (address: string): Channel =>
    openChannel(address, { deadlineMs: config.callDeadlineMs, credentials: [config.callCredential], tls: config, metrics });
  const channels = Object.fromEntries(owners.map((owner) => [owner, open(addresses[owner])])) as Record<Owner, Channel>;
  return {
    channels,
    call(operation) {
      const {
        owner,
        rpc,
        verb,
        request: { byName },
      } = operation;
      const changes = verb !== 'GET';
      const repeatable = !changes || byName.has('idempotency_key');
      const channel = channels[owner];
      const record = isBatchable(operation) ? resources.find(({ detail }) => detail === operation) : undefined;
      const readTogether = record && batchReads(channel, record);
      return async (request, { requestId, res }) => {
        const under: { metadata?: ResponseMetadata; cancel?: () => void; gone?: boolean } = {};
        const leave = (): void => {
          under.gone = true;
          under.cancel?.();
        };
        res.once('close', leave);
        const onStart = (cancel: () => void): void => void (under.cancel = cancel);
        const onMetadata = (metadata: ResponseMetadata): void => void (under.metadata = metadata);
        const alone = async (): Promise<Buffer> => {
          if (under.gone === true) throw new ClientGone();
          return channel.call(rpc, request, { requestId, onStart, repeatable, ...(changes ? { onMetadata } : {}) });
        };
        try {
          // A trace shows the request's own call.
          const bytes = await (readTogether === undefined || isSampled() ? alone() : readTogether(request, alone));
          return under.metadata === undefined ? { bytes } : { bytes, metadata: under.metadata };
        } catch (error) {
          if (under.gone === true) throw new ClientGone();
          throw ApiError.from(error);
        } finally {
          res.off('close', leave);
        }
      };
    },
    async allServing(log, signal) {
      const serving = async ([service, channel]: [string, Channel]): Promise<void> => {
        const check = async (): Promise<void> => {
          await channel.check(CHECK_MS);
          await checkServing(channel, CHECK_MS);
        };
        const again = (error: unknown, failures: number): boolean => {
          logOutage(log, 'waiting for a service', failures, error, { service });
          return true;
        };
        await retrying(check, again, signal, CHECK_BACKOFF);
        log.info({ service }, 'a service answers');
      };
      await Promise.all(Object.entries(channels).map(serving));
    },
    close() {
      for (const channel of Object.values(channels)) channel.close();
    },
  };
}

/** The client closed the connection before its answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
