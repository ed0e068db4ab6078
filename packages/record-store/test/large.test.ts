// The limit of answers with large documents that a process makes and sends at a time.
import { LARGE_TOGETHER, inTurn } from '../src/large.ts';

/** A company's requests for large answers. `begun` receives its name whenever work on an answer begins; `close` closes its oldest open call. */
function answers(company: string, begun: string[], work: () => Promise<string> = () => Promise.resolve('answer')) {
  const closing: (() => void)[] = [];
  const call = { onClosed: (then: () => void) => void closing.push(then) };
  const ask = () =>
    inTurn(company, call, () => {
      begun.push(company);
      return work();
    });
  return { ask, close: () => closing.shift()!() };
}

test('makes an answer when one of four others has been sent, for the company that has had least', async () => {
  const begun: string[] = [];
  const [flood, other] = [answers('flood', begun), answers('other', begun)];
  const all = Array.from({ length: LARGE_TOGETHER + 2 }, flood.ask);
  await Promise.all(all.slice(0, LARGE_TOGETHER));
  const late = other.ask();
  expect(begun).toHaveLength(LARGE_TOGETHER);
  flood.close();
  await late;
  expect(begun.slice(LARGE_TOGETHER)).toEqual(['other']);
  for (let left = LARGE_TOGETHER - 1; left > 0; left--) flood.close();
  other.close();
  await Promise.all(all);
  flood.close();
  flood.close();
});

test('makes the next answer when the call of a failed one has closed', async () => {
  const begun: string[] = [];
  const failing = answers('flood', begun, () => Promise.reject(new Error('gone')));
  const failed = Array.from({ length: LARGE_TOGETHER }, failing.ask);
  for (const each of failed) await expect(each).rejects.toThrow('gone');
  const next = answers('flood', begun);
  const waiting = next.ask();
  for (let left = LARGE_TOGETHER; left > 0; left--) failing.close();
  expect(await waiting).toBe('answer');
  next.close();
});
