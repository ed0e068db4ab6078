// Runs the load suite's scenarios from Node: same requests and checks as with k6.
import { headersOf, refusal, type Answer, type Ask, type Client } from '../k6/scenarios/api.ts';

export interface NodeClient extends Client {
  readonly faults: readonly string[];
  readonly sent: ReadonlyMap<string, number>;
  /** Sends a request that is not counted. Throws if the status is not an expected one. */
  send(ask: Ask): Promise<string>;
}

export function nodeClient(baseUrl: string): NodeClient {
  const faults: string[] = [];
  const sent = new Map<string, number>();

  async function exchange(ask: Ask): Promise<Answer> {
    const { method = 'GET', path, body } = ask;
    const response = await fetch(baseUrl + path, { method, headers: headersOf(ask), ...(body !== undefined && { body: JSON.stringify(body) }) });
    return { status: response.status, body: await response.text(), header: (name) => response.headers.get(name) ?? undefined };
  }

  return {
    thorough: true,
    faults,
    sent,
    async ask(operation, ask) {
      sent.set(operation, (sent.get(operation) ?? 0) + 1);
      const answer = await exchange(ask);
      if (!ask.expect.includes(answer.status)) faults.push(`${operation}: ${refusal(ask, answer)}`);
      return answer;
    },
    wrong: (operation, what) => void faults.push(`${operation}: ${what}`),
    pause: async () => undefined,
    async send(ask) {
      const answer = await exchange(ask);
      if (!ask.expect.includes(answer.status)) throw new Error(refusal(ask, answer));
      return answer.body;
    },
  };
}
