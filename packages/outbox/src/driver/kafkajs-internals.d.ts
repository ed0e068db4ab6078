// Fault: kafkajs publishes no types of the parts that kafkajs-repairs.ts changes.
// Upstream: no upstream issue known.
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly inflight: ReadonlyMap<number, { readonly sentAt: number; readonly requestTimeout: number; timeoutRequest(): void }>;
    readonly pending: readonly unknown[];
    push(request: {
      entry: { correlationId: number; resolve(value: unknown): void; reject(error: unknown): void };
      expectResponse: boolean;
      requestTimeout: number | null;
      sendRequest(): void;
    }): void;
    readonly enforceRequestTimeout: boolean;
    readonly requestTimeout: number;
    requestTimeoutIntervalId: NodeJS.Timeout | undefined;
    isConnected(): boolean;
    scheduleRequestTimeoutCheck(): void;
    fulfillRequest(answer: { correlationId: number; payload: unknown; size: number }): void;
    rejectAll(error: Error): void;
    destroy(): void;
    scheduleCheckPendingRequests(): void;
    constructor(options: Record<string, unknown>);
  }
}
declare module 'kafkajs/src/network/connection.js' {
  export default class Connection {
    isConnected(): boolean;
    connect(): Promise<unknown>;
  }
}
declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    buf: Buffer;
    offset: number;
    readonly buffer: Buffer;
    ensureAvailable(length: number): void;
    constructor(size?: number);
  }
}
declare module 'kafkajs/src/consumer/consumerGroup.js' {
  export default class ConsumerGroup {
    fetch(nodeId: number): Promise<{ readonly rawMessages: readonly unknown[] }[]>;
  }
}
declare module 'kafkajs/src/consumer/runner.js' {
  import type ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

  export default class Runner {
    readonly consumerGroup: ConsumerGroup;
    stop(): Promise<void>;
  }
}

declare module 'kafkajs/src/protocol/requests/produce/index.js' {
  import type { Message } from 'kafkajs';
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export interface ProduceArguments {
    readonly acks: number;
    readonly timeout: number;
    readonly compression?: number;
    readonly transactionalId?: string | null;
    /** A string or a kafkajs Long. */
    readonly producerId?: { toString(): string };
    readonly producerEpoch?: number;
    readonly topicData: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number | string; readonly firstSequence?: number; readonly messages: readonly Message[] }[];
    }[];
  }
  export type Produce = (produced: ProduceArguments) => { readonly request: { encode(): Promise<Encoder> } };
  const produces: { protocol(which: { version: number }): Produce };
  export default produces;
}
