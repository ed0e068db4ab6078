const FEED = '/api/v1/integrations/changes';

export class Feed {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(port: number, key: string) {
    this.#url = `http://127.0.0.1:${port}${FEED}`;
    this.#headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
  }

  async read(path: string): Promise<string> {
    const answer = await fetch(`${this.#url}${path}`, { headers: this.#headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return text;
  }

  /** Only what follows the records is parsed: programs do more with them, in processes of their own. */
  async page(query: string): Promise<{ cursor: string; more: boolean; empty: boolean }> {
    const text = await this.read(query);
    const end = text.lastIndexOf('],"nextCursor"');
    const { nextCursor: cursor, hasMore: more } = JSON.parse(`{${text.slice(end + 2)}`) as { nextCursor: string; hasMore: boolean };
    return { cursor, more, empty: end === text.indexOf('[') + 1 };
  }
}
