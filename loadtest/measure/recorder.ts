// A proxy between a service and PostgreSQL that records statements. A comparison with "the same statements" then replays what the
// service really sends, not a copy that may be out of date.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface RecordedStatement {
  readonly name: string;
  readonly text: string;
  /** As text; bytes in PostgreSQL's bytea format. */
  readonly values: readonly (string | null)[];
}

export interface Recorder {
  readonly port: number;
  /** Session settings of the connection that ran the last transaction. */
  settings(): string;
  take(): RecordedStatement[];
  close(): void;
}

export async function startRecorder(target: { host: string; port: number }): Promise<Recorder> {
  let settings = '';
  let recorded: RecordedStatement[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => undefined);
      socket.on('close', () => void (client.destroy(), upstream.destroy(), sockets.delete(socket)));
    }
    upstream.pipe(client);
    client.pipe(upstream);
    const texts = new Map<string, string>();
    let inside = false;
    let own = '';
    const note = (statement: RecordedStatement): void => {
      if (statement.text.startsWith('begin')) {
        inside = true;
        settings = own;
      }
      if (inside) recorded.push(statement);
      if (statement.text === 'commit' || statement.text === 'rollback') inside = false;
    };
    let rest = Buffer.alloc(0);
    let started = false;
    client.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const header = started ? 5 : 4;
        const size = rest.length < header ? Infinity : rest.readUInt32BE(header - 4) + header - 4;
        if (rest.length < size) return;
        const body = new Reader(rest.subarray(header, size));
        const type = started ? String.fromCharCode(rest[0] as number) : 'startup';
        rest = rest.subarray(size);
        started = true;
        if (type === 'Q') note({ name: '', text: body.string(), values: [] });
        else if (type === 'P') texts.set(body.string(), body.string());
        else if (type === 'B') {
          const statement = bindOf(body, texts);
          own = optionsOf(statement) ?? own;
          note(statement);
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    settings: () => settings,
    take() {
      const taken = recorded;
      recorded = [];
      return taken;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Settings in the form of PGOPTIONS, from the statement that sets up a new connection (connection-settings.ts). */
function optionsOf({ text, values: [settings] }: RecordedStatement): string | undefined {
  if (!text.includes('json_each_text($1)') || settings === undefined || settings === null) return undefined;
  return Object.entries(JSON.parse(settings) as Record<string, string>)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

function bindOf(body: Reader, texts: ReadonlyMap<string, string>): RecordedStatement {
  body.string();
  const name = body.string();
  const formats = Array.from({ length: body.int16() }, () => body.int16());
  const values = Array.from({ length: body.int16() }, (_, i) => {
    const bytes = body.bytes(body.int32());
    const binary = (formats.length === 1 ? formats[0] : formats[i]) === 1;
    return bytes && (binary ? `\\x${bytes.toString('hex')}` : bytes.toString('utf8'));
  });
  return { name, text: texts.get(name) ?? '', values };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    return this.#bytes.readInt16BE((this.#at += 2) - 2);
  }

  int32(): number {
    return this.#bytes.readInt32BE((this.#at += 4) - 4);
  }

  string(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  bytes(length: number): Buffer | null {
    if (length < 0) return null;
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }
}
