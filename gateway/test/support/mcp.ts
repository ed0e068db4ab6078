// A client of /mcp that sends one message at a time, in either protocol that the gateway speaks.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { request, type Answer } from './gateway.ts';

export type Era = '2025-11-25' | '2026-07-28';

export interface Caller {
  url: string;
  key: string;
  era?: Era;
  headers?: Record<string, string>;
}

export interface ToolResult {
  text: string;
  isError: boolean;
  content: any[];
  /** Records between the fences. */
  rows: any[];
}

/** A message as JSON-RPC; in the later protocol it names its version. */
export function message(era: Era, method: string, params: Record<string, any> = {}) {
  const modern = {
    'io.modelcontextprotocol/protocolVersion': era,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 1, method, params: era === '2026-07-28' ? { ...params, _meta: modern } : params };
}

export async function post({ url, key, era = '2026-07-28', headers = {} }: Caller, method: string, params: Record<string, any> = {}): Promise<Answer> {
  const answer = await request(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      ...(era === '2026-07-28' && { 'mcp-method': method, ...(params['name'] !== undefined && { 'mcp-name': params['name'] }) }),
      ...headers,
    },
    body: JSON.stringify(message(era, method, params)),
  });
  const event = /^data: (\{.*)$/m.exec(answer.text)?.[1];
  return event === undefined ? answer : { ...answer, body: JSON.parse(event) };
}

/** Calls a tool. Rejects with the answer's text if it has no result. */
export async function call(caller: Caller, name: string, given: object): Promise<ToolResult> {
  const answer = await post(caller, 'tools/call', { name, arguments: given });
  if (answer.body?.result === undefined) throw new Error(`${answer.status} ${answer.text}`);
  const { content, isError = false } = answer.body.result;
  return { text: content[0].text, isError, content, rows: rowsIn(content[0].text) };
}

/** Each line between the fences. A line may begin with what it is: `invoices: {…}`. */
function rowsIn(text: string): any[] {
  const fenced = /\n<data>\n([^<]*)\n<\/data>$/.exec(text)?.[1] ?? '';
  return fenced === '' ? [] : fenced.split('\n').map((line) => JSON.parse(line.replace(/^[a-z_-]+: /, '')));
}

/** Tokens of a text in o200k_base. */
export function tokensOf(text: string): number {
  return encode(text, { disallowedSpecial: new Set() }).length;
}
