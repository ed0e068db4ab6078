import { ApiError } from '@truckroll/contract';
import { isFault } from '../src/faults.ts';

const named = (name: string): Error => Object.assign(new Error('ended'), { name });

describe('an error is a fault', () => {
  test.each([
    ['an answer with status 500', new ApiError('INTERNAL_ERROR', 'broken', { status: 500 })],
    ['a lost connection', { sqlState: '08006' }],
    ['a state that only contains a violation', { sqlState: '123505' }],
    ['a state that only begins with a violation', { sqlState: '235051' }],
    ['a lost connection, from pg', { code: '08006' }],
    ['a number as code', { code: 23505 }],
    ['any other error', new Error('broken')],
    ['nothing', undefined],
  ])('if it is %s', (_, error) => expect(isFault(error)).toBe(true));

  test.each([
    ['an answer with status 499', new ApiError('INTERNAL_ERROR', 'left', { status: 499 })],
    ['a violated constraint', { sqlState: '23505', code: '08006' }],
    ['a violated constraint, from pg', { code: '23505' }],
    ['contention', { sqlState: '40P01' }],
    ['an aborted call', named('AbortError')],
    ['a cancelled call', named('CallCancelled')],
  ])('but not %s', (_, error) => expect(isFault(error)).toBe(false));
});
