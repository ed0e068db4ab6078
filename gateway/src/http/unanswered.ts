// Limits the unanswered requests of one connection, and its unsent answers. Beyond either limit, the gateway stops reading and parses what
// has already arrived slowly.
// Node alone would parse all of it, up to 64 KB at once, before the first answer.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MOST_UNANSWERED = 8;
/** Bytes of unsent answers above which a connection is not read: ten pages of a list. */
export const MOST_UNSENT = 1_000_000;
/**
 * Bytes that are parsed before unanswered requests are counted again: about eight of the shortest requests. A slice is extended to the end
 * of the head it ends in, because parsing a long head in pieces costs many times as much.
 */
const SLICE = 256;
const HEAD_END = '\r\n\r\n';
/**
 * Pause in ms before the next slice, on a connection whose client sent more requests than allowed without waiting for answers: rejecting
 * them costs more than sending them. Browsers, HTTP libraries and proxies wait for answers and are not slowed down.
 */
const PAUSE_MS = 10;
/** Time in ms that a client may go on sending the body of a request that has already been answered. */
const UPLOAD_MS = 5000;

/** Returns a function that must be called for each request. */
export function limitUnanswered(server: Server): (req: IncomingMessage, res: ServerResponse) => void {
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => connections.set(socket, new Connection(socket)));
  return (req, res) => {
    const connection = connections.get(req.socket) as Connection;
    connection.began(res);
    res.once('close', () => {
      connection.ended(res);
      if (!req.complete) endUpload(req);
    });
  };
}

class Connection {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  /** Requests without an answer, or with one that is not sent. */
  readonly #answers = new Set<ServerResponse>();
  /** Reading has stopped because a limit was reached. */
  #isStopped = false;
  /** The client has sent more requests than the limit without waiting. Requests are parsed slowly until everything that has arrived is parsed. */
  #isSlow = false;
  /** Requests that started in the bytes being parsed. */
  #begun = 0;
  /** Node has paused the socket, because answers or a body are not being read. It takes no bytes until Node resumes it. */
  #pausedByNode = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node's HTTP server parses what the `data` event brings. It reads sockets natively, without `data`, until another listener is added.
    [this.#parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    socket.off('data', this.#parse);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
  }

  get #isFull(): boolean {
    if (this.#answers.size > MOST_UNANSWERED) return true;
    let unsent = 0;
    for (const { writableLength } of this.#answers) unsent += writableLength;
    return unsent > MOST_UNSENT;
  }

  began(res: ServerResponse): void {
    this.#answers.add(res);
    this.#begun += 1;
  }

  ended(res: ServerResponse): void {
    this.#answers.delete(res);
    if (!this.#isStopped || this.#isFull) return;
    this.#isStopped = false;
    this.#resumeLater();
  }

  #take(bytes: Buffer): void {
    const socket = this.#socket;
    this.#pausedByNode = false;
    this.#begun = 0;
    let at = 0;
    // After an answer that closes the connection, such as one to what is not HTTP, the rest is discarded.
    while (at < bytes.length && socket.writable && !this.#isFull && !this.#pausedByNode) {
      const headEnd = bytes.indexOf(HEAD_END, at + SLICE, 'latin1');
      const end = headEnd === -1 ? bytes.length : headEnd + HEAD_END.length;
      this.#parse(bytes.subarray(at, end));
      at = end;
      this.#pausedByNode = socket.isPaused();
      if (this.#isSlow && this.#begun > 0) break;
    }
    const isLeft = at < bytes.length && socket.writable;
    this.#isStopped = this.#isFull;
    this.#isSlow = this.#isStopped || (this.#isSlow && isLeft);
    if (!isLeft && !this.#isStopped) return;
    socket.pause();
    if (isLeft) socket.unshift(bytes.subarray(at));
    if (!this.#isStopped) this.#resumeLater();
  }

  #resumeLater(): void {
    setTimeout(() => {
      if (!this.#pausedByNode) this.#socket.resume();
    }, PAUSE_MS).unref();
  }
}

function endUpload(req: IncomingMessage): void {
  setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, UPLOAD_MS).unref();
}
