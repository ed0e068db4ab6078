// The standard health service, grpc.health.v1.Health. Its messages are encoded by hand: a package for it would load a second protobuf implementation.
import { status, type MethodDefinition, type Server, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { ApiError } from '@truckroll/contract';
import type { Channel } from './client.ts';

const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;
const FIELD = 1;

interface Asked {
  /** Empty for the whole server. */
  readonly service: string;
}
type Method = MethodDefinition<Asked, number>;

function method(name: string, responseStream: boolean): Method {
  return {
    path: `/grpc.health.v1.Health/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: ({ service }) => Buffer.from(new BinaryWriter().tag(FIELD, 2).string(service).finish()),
    requestDeserialize: readAsked,
    responseSerialize: (serving) => Buffer.from(new BinaryWriter().tag(FIELD, 0).int32(serving).finish()),
    responseDeserialize: (bytes) => bytes[1] ?? 0,
  };
}

function readAsked(bytes: Buffer): Asked {
  const reader = new BinaryReader(bytes);
  let service = '';
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === FIELD) service = reader.string();
    else reader.skip(type);
  }
  return { service };
}

/** Resolves if the peer answers that it serves. Rejects with ApiError 503 otherwise. */
export async function checkServing(channel: Pick<Channel, 'call'>, deadlineMs: number): Promise<void> {
  const { path, responseDeserialize } = method('Check', false);
  const current = responseDeserialize(await channel.call(path, Buffer.alloc(0), { deadlineMs }));
  if (current !== SERVING) throw ApiError.unavailable(new Error('the peer is running but not serving yet'));
}

/** Adds the health service, which only knows the whole server (the empty name). Returns the setter of its status. */
export function addHealth(server: Server): { setServing(serving: boolean): void } {
  let current = NOT_SERVING;
  const watchers = new Set<ServerWritableStream<Asked, number>>();
  server.addService(
    { check: method('Check', false), watch: method('Watch', true) },
    {
      check({ request: { service } }: ServerUnaryCall<Asked, number>, callback: sendUnaryData<number>) {
        if (service === '') callback(null, current);
        else callback({ code: status.NOT_FOUND, details: `there is no health of ${service} alone: ask for the server, by an empty name` });
      },
      watch(call: ServerWritableStream<Asked, number>) {
        if (call.request.service !== '') return void call.write(SERVICE_UNKNOWN);
        watchers.add(call);
        call.on('cancelled', () => watchers.delete(call));
        call.write(current);
      },
    },
  );
  return {
    setServing(serving) {
      const next = serving ? SERVING : NOT_SERVING;
      if (next === current) return;
      current = next;
      for (const call of watchers) call.write(current);
    },
  };
}
