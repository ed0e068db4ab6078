import { randomBytes } from 'node:crypto';
import { KeyRing } from '@truckroll/process';
import fc from 'fast-check';
import { createCursors, type CursorScope } from '../src/routes/cursor.ts';

const key = (id: string): [string, Buffer] => [id, randomBytes(32)];
const [first, second] = [key('k1'), key('k2')];
const cursors = createCursors(new KeyRing([first, second]));

const text = fc.string({ maxLength: 40 });
const scope = fc.record<CursorScope>({ companyId: fc.uuid(), operation: fc.stringMatching(/^[A-Z][a-zA-Z]{1,20}$/), filters: text });
const position = fc.uint8Array({ minLength: 1, maxLength: 60 });
const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', '=', ' ', '+', '/', 'é'];

describe('cursor', () => {
  test('opens to its position', () => {
    fc.assert(
      fc.property(scope, position, (where, bytes) => {
        expect([...(cursors.open(where, cursors.seal(where, bytes)) ?? [])]).toEqual([...bytes]);
      }),
    );
  });

  test('does not open with any character replaced, removed or added', () => {
    fc.assert(
      fc.property(scope, position, fc.nat(), fc.constantFrom(...ALPHABET), fc.constantFrom(0, 1), (where, bytes, at, character, removed) => {
        const cursor = cursors.seal(where, bytes);
        const index = at % (cursor.length + 1);
        const altered = cursor.slice(0, index) + character + cursor.slice(index + removed);
        fc.pre(altered !== cursor);
        expect(cursors.open(where, altered)).toBeUndefined();
        if (index < cursor.length) expect(cursors.open(where, cursor.slice(0, index))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test('opens only for its company, route and filters', () => {
    fc.assert(
      fc.property(scope, scope, position, (where, other, bytes) => {
        const cursor = cursors.seal(where, bytes);
        for (const part of ['companyId', 'operation', 'filters'] as const) {
          if (other[part] === where[part]) continue;
          expect(cursors.open({ ...where, [part]: other[part] }, cursor)).toBeUndefined();
        }
      }),
    );
  });

  test('does not open if it is empty, text or arbitrary bytes', () => {
    fc.assert(
      fc.property(
        scope,
        fc.oneof(
          fc.string(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
        ),
        (where, given) => {
          expect(cursors.open(where, given)).toBeUndefined();
        },
      ),
    );
  });

  test('survives a change of the sealing key, but not the removal of the key that sealed it', () => {
    const where = { companyId: 'c', operation: 'ListInvoices', filters: '' };
    const old = createCursors(new KeyRing([first])).seal(where, Buffer.from('x'));
    expect(
      createCursors(new KeyRing([second, first]))
        .open(where, old)
        ?.toString(),
    ).toBe('x');
    expect(createCursors(new KeyRing([second])).open(where, old)).toBeUndefined();
  });

  test('reveals neither the position nor the company', () => {
    const where = { companyId: '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e', operation: 'ListInvoices', filters: '' };
    const bytes = Buffer.from('2026-03-01T15:04:05');
    const token = Buffer.from(cursors.seal(where, bytes), 'base64url').toString('latin1');
    expect(token).not.toContain('2026');
    expect(cursors.seal(where, bytes)).not.toBe(cursors.seal(where, bytes));
  });
});
