// What waits while a server is away, and the company with it.
import { ApiError } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../src/session.ts';
import { despiteOutage } from '../src/moving/reasons.ts';

const away = () => ApiError.unavailable(new Error('connection refused'));
let notes: string[];
const session = { note: (text: string) => void notes.push(text) } as Session;
beforeEach(() => void (notes = []));

test.each([
  ['PostgreSQL', away()],
  ['a service', new Failure('integrations does not answer: start it', EXIT.unreachable, away())],
])('tries again while %s is away, and says once why it waits', async (_, error) => {
  let tries = 0;
  await despiteOutage(session, async () => {
    tries += 1;
    if (tries < 3) throw error;
  });
  expect([tries, notes]).toEqual([3, [expect.stringContaining('waits up to a minute')]]);
});

test('does not try again what a service has failed at for another reason', async () => {
  const failed = new Failure('integrations failed: see its log for the reason.', EXIT.unreachable, ApiError.internal(new Error('a fault')));
  await expect(despiteOutage(session, () => Promise.reject(failed))).rejects.toBe(failed);
  expect(notes).toEqual([]);
});

test('ends when the command is being ended', async () => {
  const ending = new AbortController();
  const stopped = despiteOutage({ note: () => ending.abort(new Error('ended')) } as unknown as Session, () => Promise.reject(away()), ending.signal);
  await expect(stopped).rejects.toThrow('ended');
});
