import { Agent, get } from 'node:http';

const FEED = '/api/v1/integrations/changes';

/** A reader that keeps separate connections. */
export class Feed {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;
  readonly #key: string;

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  read(path: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.#key}` };
    return new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port: this.#port, path: `${FEED}${path}`, headers, agent: this.#agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${path} answered ${response.statusCode}: ${text}`));
        });
      }).on('error', reject);
    });
  }

  /** Only what follows the records is parsed: programs do more with them, in processes of their own. */
  async page(query: string): Promise<{ cursor: string; more: boolean; empty: boolean }> {
    const text = await this.read(query);
    const end = text.lastIndexOf('],"nextCursor"');
    const { nextCursor: cursor, hasMore: more } = JSON.parse(`{${text.slice(end + 2)}`) as { nextCursor: string; hasMore: boolean };
    return { cursor, more, empty: end === text.indexOf('[') + 1 };
  }
}
