// Limits the unanswered requests of one connection: beyond the limit the connection is not read. Node alone would parse
// everything that has arrived, up to 64 KB at once, before the first answer.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MOST_UNANSWERED = 8;
/** Bytes that are parsed before unanswered requests are counted again: as many as eight of the shortest requests have. */
const SLICE = 256;
/** Milliseconds that a client may go on sending the body of a request that has been answered. */
const UPLOAD_MS = 5000;

/** Returns what must be called for each request. */
export function limitUnanswered(server: Server): (req: IncomingMessage, res: ServerResponse) => void {
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => connections.set(socket, new Connection(socket)));
  return (req, res) => {
    const connection = connections.get(req.socket) as Connection;
    connection.began();
    res.once('close', () => {
      connection.ended();
      if (!req.complete) endUpload(req);
    });
  };
}

class Connection {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  #unanswered = 0;
  /** Bytes that have arrived wait to be parsed: until they have been, each turn of the event loop parses one slice. */
  #waits = false;
  /** Node has paused the socket, because answers or a body are not read, and will resume it: it takes no bytes before. */
  #pausedByNode = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node's HTTP server parses what `data` brings. It reads sockets natively, without `data`, until another listener is added.
    [this.#parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    socket.off('data', this.#parse);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
  }

  get #isFull(): boolean {
    return this.#unanswered > MOST_UNANSWERED;
  }

  began(): void {
    this.#unanswered += 1;
  }

  ended(): void {
    const wasFull = this.#isFull;
    this.#unanswered -= 1;
    if (wasFull && !this.#isFull) this.#resumeSoon();
  }

  #take(bytes: Buffer): void {
    const socket = this.#socket;
    this.#pausedByNode = false;
    let at = 0;
    // After an answer that ends the connection, such as one to what is not HTTP, the rest is discarded.
    while (at < bytes.length && socket.writable && !this.#isFull && !this.#pausedByNode) {
      this.#parse(bytes.subarray(at, at + SLICE));
      at += SLICE;
      this.#pausedByNode = socket.isPaused();
      if (this.#waits) break;
    }
    this.#waits = at < bytes.length && socket.writable;
    if (!this.#waits && !this.#isFull) return;
    socket.pause();
    if (this.#waits) socket.unshift(bytes.subarray(at));
    if (!this.#isFull) this.#resumeSoon();
  }

  /** In the next turn of the event loop, so that other connections are served in between. */
  #resumeSoon(): void {
    setImmediate(() => {
      if (!this.#pausedByNode) this.#socket.resume();
    });
  }
}

function endUpload(req: IncomingMessage): void {
  setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, UPLOAD_MS).unref();
}
