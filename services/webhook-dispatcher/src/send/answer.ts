import type { IncomingHttpHeaders } from 'node:http';
import type { Client, Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';

/** What arrived of an answer. Status and body are undefined if its head did not. */
export interface ReceivedAnswer {
  status?: number;
  headers: IncomingHttpHeaders;
  body?: AnswerBody;
  /** Why the answer is not complete. */
  error?: unknown;
}

/** Sends a request and waits until its answer is complete or fails. Never rejects. undici's `request` would also make a stream of each answer. */
export function send(client: Client, request: Dispatcher.DispatchOptions, signal: AbortSignal, bodyLimit: number): Promise<ReceivedAnswer> {
  return new Promise((resolve) => {
    const answer: ReceivedAnswer = { headers: {} };
    let controller: Dispatcher.DispatchController | undefined;
    const abort = () => controller?.abort(signal.reason as Error);
    const ended = () => {
      signal.removeEventListener('abort', abort);
      resolve(answer);
    };
    signal.addEventListener('abort', abort);
    client.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) abort();
      },
      onResponseStart(_, status, headers) {
        Object.assign(answer, { status, headers, body: new AnswerBody(String(headers['content-encoding'] ?? ''), bodyLimit) });
      },
      onResponseData(_, chunk) {
        answer.body?.add(chunk);
      },
      onResponseEnd: ended,
      onResponseError(_, error) {
        answer.error = error;
        ended();
      },
    });
  });
}
