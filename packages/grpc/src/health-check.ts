// The standard health service, grpc.health.v1.Health. A package for it would load a second protobuf implementation. Its request and its
// response have one field each, so they are encoded as StringValue and Int32Value.
import { status, type MethodDefinition, type Server, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Int32ValueSchema, StringValueSchema, type StringValue } from '@bufbuild/protobuf/wkt';
import { ApiError } from '@truckroll/contract';
import type { Channel } from './client.ts';

const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

/** The request is the name of a service, empty for the whole server. */
function method(name: string, responseStream: boolean): MethodDefinition<StringValue, number> {
  return {
    path: `/grpc.health.v1.Health/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: (service) => Buffer.from(toBinary(StringValueSchema, service)),
    requestDeserialize: (bytes) => fromBinary(StringValueSchema, bytes),
    responseSerialize: (value) => Buffer.from(toBinary(Int32ValueSchema, create(Int32ValueSchema, { value }))),
    responseDeserialize: (bytes) => fromBinary(Int32ValueSchema, bytes).value,
  };
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
  const watchers = new Set<ServerWritableStream<StringValue, number>>();
  server.addService(
    { check: method('Check', false), watch: method('Watch', true) },
    {
      check({ request: { value: service } }: ServerUnaryCall<StringValue, number>, callback: sendUnaryData<number>) {
        if (service === '') callback(null, current);
        else callback({ code: status.NOT_FOUND, details: `there is no health of ${service} alone: ask for the server, by an empty name` });
      },
      watch(call: ServerWritableStream<StringValue, number>) {
        if (call.request.value !== '') return void call.write(SERVICE_UNKNOWN);
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
