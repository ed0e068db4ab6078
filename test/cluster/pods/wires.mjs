// A proxy for Redis and Kafka that can interrupt them: GET /cut/redis closes its connections and refuses new ones until GET /restore/redis.
// REDIS and KAFKA (`host:port`, comma-separated) are the servers, ADDRESS is this pod.
// Kafka brokers announce broker addresses to clients, so the proxy replaces each address in their answers by its own. The Kafka protocol
// encodes the host as a string with a length of one or two bytes, and the port in four bytes.
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';

const { REDIS, KAFKA, ADDRESS } = process.env;
const [REDIS_PORT, KAFKA_PORT, CONTROL_PORT] = [6379, 9092, 8080];
const brokers = KAFKA.split(',').map((address, index) => ({ address, port: KAFKA_PORT + index }));

function wire(address, port, pass) {
  const [host, upstreamPort] = address.split(':');
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(upstreamPort), host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from);
      from
        .setNoDelay(true)
        .on('error', () => to.destroy())
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
    }
    client.pipe(upstream);
    pass(upstream, client);
  });
  const restore = () => new Promise((resolve) => server.listen(port, resolve));
  const cut = () =>
    new Promise((resolve) => {
      server.close(resolve);
      for (const socket of sockets) socket.destroy();
    });
  void restore();
  return { cut, restore };
}

const string16 = (text) => Buffer.concat([Buffer.from([text.length >> 8, text.length & 255]), Buffer.from(text)]);
const compact = (text) => Buffer.concat([Buffer.from([text.length + 1]), Buffer.from(text)]);
const int32 = (number) => Buffer.from([0, 0, number >> 8, number & 255]);
const places = brokers.flatMap(({ address, port }) => {
  const [host, own] = address.split(':');
  return [string16, compact].map((encode) => ({ from: Buffer.concat([encode(host), int32(Number(own))]), to: Buffer.concat([encode(ADDRESS), int32(port)]) }));
});

function replaced(frame) {
  for (const { from, to } of places) {
    for (let at = frame.indexOf(from); at >= 0; at = frame.indexOf(from, at + to.length)) {
      frame = Buffer.concat([frame.subarray(0, at), to, frame.subarray(at + from.length)]);
    }
  }
  return frame;
}

function passKafka(upstream, client) {
  let held = Buffer.alloc(0);
  upstream.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
      const end = 4 + held.readInt32BE(0);
      const frame = replaced(held.subarray(4, end));
      const length = Buffer.alloc(4);
      length.writeInt32BE(frame.length);
      client.write(Buffer.concat([length, frame]));
      held = held.subarray(end);
    }
  });
}

const wires = {
  redis: [wire(REDIS, REDIS_PORT, (upstream, client) => upstream.pipe(client))],
  kafka: brokers.map(({ address, port }) => wire(address, port, passKafka)),
};
createHttpServer(async (request, response) => {
  const [, action, name] = request.url.split('/');
  const asked = Object.hasOwn(wires, name ?? '') && ['cut', 'restore'].includes(action) ? wires[name] : undefined;
  await Promise.all((asked ?? []).map((each) => each[action]()));
  response.writeHead(asked ? 200 : 404).end(`${action} ${name}\n`);
}).listen(CONTROL_PORT);
process.on('SIGTERM', () => process.exit(0));
