// The Model Context Protocol over stdio, for hosts that start a program instead of calling an address. Each line is a message: it goes to
// /mcp of the gateway, and the answer comes back as a line.

/** What this module uses of Node. The package is compiled without its types. */
declare const process: {
  stdin: AsyncIterable<string> & { setEncoding(encoding: 'utf8'): void };
  stdout: { write(text: string): void };
  stderr: { write(text: string): void };
};

interface Message {
  id?: string | number | null;
  method?: string;
  params?: { name?: string; _meta?: Record<string, unknown> };
}

interface Reply {
  jsonrpc?: '2.0';
  result?: { protocolVersion?: string };
  error?: { code: string | number; message: string };
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The message of a line, or what JSON-RPC answers to a line that is none. The official package answers nothing, so that its host waits for ever. */
function messageIn(line: string): { message: Message } | { refusal: object } {
  const refusal = (id: unknown, code: number, message: string) => ({ refusal: { jsonrpc: '2.0', id, error: { code, message } } });
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return refusal(null, -32700, 'Parse error: this line is not JSON. Send each message as one line of JSON.');
  }
  const { jsonrpc, id } = Object(message) as { jsonrpc?: unknown; id?: unknown };
  if (jsonrpc === '2.0') return { message: message as Message };
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return refusal(known, -32600, 'Invalid Request: a message is one JSON object with "jsonrpc": "2.0"; several at once are not taken.');
}

/** Sends messages to `/mcp` of the gateway and writes what it answers. The returned function resolves when its message is answered. */
function bridge(baseUrl: string, apiKey: string, write: (reply: object) => void, signal: AbortSignal | undefined): (line: string) => Promise<void> {
  const url = `${baseUrl.trim().replace(/(?:(?:\/api)?\/v1)?\/*$/i, '')}/mcp`;
  /** What a host of the protocol before 2026-07-28 has agreed on; later ones name their version in each message. */
  let agreed: string | undefined;

  function headersOf({ method, params }: Message): Record<string, string> {
    const version = params?._meta?.[VERSION];
    const each = typeof version === 'string' && method !== undefined;
    return {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(each ? { 'mcp-protocol-version': version, 'mcp-method': method } : agreed !== undefined && { 'mcp-protocol-version': agreed }),
      ...(each && params?.name !== undefined && { 'mcp-name': params.name }),
    };
  }

  return async (line) => {
    const read = messageIn(line);
    if ('refusal' in read) return write(read.refusal);
    const { message } = read;
    try {
      const response = await fetch(url, { method: 'POST', headers: headersOf(message), body: line, ...(signal && { signal }) });
      const text = await response.text();
      const events = response.headers.get('content-type')?.startsWith('text/event-stream') === true ? [...text.matchAll(/^data: ?(.+)$/gm)] : [[text, text]];
      for (const [, json = ''] of events) {
        if (json === '') continue;
        const reply = JSON.parse(json) as Reply;
        if (message.method === 'initialize') agreed = reply.result?.protocolVersion;
        if (reply.jsonrpc !== undefined) write(reply);
        // Refused before the message was read: a credential or a limit.
        else throw new Error(`${reply.error?.code ?? response.status}: ${reply.error?.message ?? text}`);
      }
    } catch (error) {
      const { cause } = error as Error;
      const reason = `${(error as Error).message}${cause instanceof Error ? `: ${cause.message}` : ''}`;
      if (message.id !== undefined) write({ jsonrpc: '2.0', id: message.id, error: { code: -32000, message: `${reason} (${url})` } });
      else process.stderr.write(`truckroll-mcp: ${reason} (${url})\n`);
    }
  };
}

/**
 * Sends each line of standard input to `/mcp`, also while earlier ones wait for their answers, which go to standard output. Ends with the input;
 * `signal` ends requests that wait. */
export async function serveStdio(baseUrl: string, apiKey: string, signal?: AbortSignal): Promise<void> {
  const send = bridge(baseUrl, apiKey, (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`), signal);
  process.stdin.setEncoding('utf8');
  let rest = '';
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) if (line.trim() !== '') void send(line);
  }
  if (rest.trim() !== '') await send(rest);
}
