// Finds texts that still name an erased person. Texts of others are not changed: an operator corrects them at their source.
import type { OwnedKind } from '@truckroll/change-feed';
import { ApiError, mentionOf, refused, type Shape } from '@truckroll/contract';
import type { ErasureServiceService, Mention } from '@truckroll/contract/gen/records/v1/erasures';
import type { Handlers } from '@truckroll/grpc';
import { erasedOf } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { SHAPES, recordsOf, rowsOf, type ExportedTable } from './export.ts';
import { requireId } from './request.ts';

/** Mentions that one answer lists. The others are counted. */
const MOST_LISTED = 1000;
const MOST_TEXTS = 100;
const MOST_TEXT_BYTES = 500;
const ESCAPES = /\\(?:u[0-9a-fA-F]{4}|.)/g;

export interface MentionOptions {
  readonly database: Database;
  readonly kinds: readonly OwnedKind[];
  /** Tables whose texts can be corrected. */
  readonly written?: readonly ExportedTable[];
}

export function mentions({ database, kinds, written = [] }: MentionOptions): Pick<Handlers<typeof ErasureServiceService>, 'findMentions'> {
  return {
    async *findMentions({ company_id: companyId, texts }, { signal }) {
      requireId(companyId);
      if (texts.length === 0 || texts.length > MOST_TEXTS || texts.some((text) => Buffer.byteLength(text) > MOST_TEXT_BYTES))
        throw refused('texts', `Give 1 to ${MOST_TEXTS} names, e-mail addresses or telephone numbers of at most ${MOST_TEXT_BYTES} bytes each.`);
      const db = database.of(companyId);
      if ((await erasedOf(db, [companyId])).size > 0) throw ApiError.notFound('company');
      const isMention = mentionOf(texts);
      const parts = [
        ...kinds.map((kind) => ({ kind: kind.kind, shape: SHAPES.get(kind.kind), read: () => recordsOf(db, kind, { companyId, timeZone: 'UTC' }) })),
        ...written.map((table) => ({ kind: table.table, shape: undefined, read: () => rowsOf(db, table, companyId) })),
      ];
      let [listed, more] = [0, 0];
      for (const { kind, shape, read } of parts) {
        for await (const lines of read()) {
          signal.throwIfAborted();
          const found = mentionsIn(kind, shape, lines.toString(), isMention);
          const some = found.slice(0, MOST_LISTED - listed);
          listed += some.length;
          more += found.length - some.length;
          if (some.length > 0) yield { mentions: some, more: 0 };
        }
      }
      yield { mentions: [], more };
    },
  };
}

type IsMention = (text: string) => boolean;

/**
 * Fields of these lines of JSON that name the person, each once. Leaves out copies from other records, such as the name in a reference, which
 * changes with its record.
 */
export function mentionsIn(kind: string, shape: Shape | undefined, lines: string, isMention: IsMention): Mention[] {
  return (
    lines
      .split('\n')
      // Otherwise the letter of an escape such as \n begins the next word.
      .filter((line) => line !== '' && isMention(line.replaceAll(ESCAPES, ' ')))
      .flatMap((line) => {
        const record = JSON.parse(line) as { id?: string; user_id?: string };
        const { id = record.user_id ?? '' } = record;
        return [...new Set(fieldsOf(record, shape, isMention))].map((field): Mention => ({ kind, id, field: field.slice(1) }));
      })
  );
}

/** Paths of texts that name the person, each with a dot in front. */
function fieldsOf(value: unknown, shape: Shape | undefined, isMention: IsMention): string[] {
  if (typeof value === 'string') return isMention(value) ? [''] : [];
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, shape, isMention));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const field = shape?.byName.get(name);
    if (field?.derived === true || field?.dispensable === true || field?.refersTo !== undefined) return [];
    return fieldsOf(each, field?.shape, isMention).map((path) => `.${name}${path}`);
  });
}
