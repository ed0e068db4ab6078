// Describes a report's CSV form: one column for each value of a row.
import type { Operation } from '@truckroll/contract';
import { csvColumns } from '../http/csv.ts';
import type { Schema } from './schemas.ts';

export const CSV_TEXT =
  'With `Accept: text/csv` the rows come as CSV for spreadsheets, in cents or dollars (`amounts`), on request with a byte order mark (`bom`); errors stay JSON.';

/** The media type `text/csv` of a report's success in the OpenAPI document. */
export function describeCsv(operation: Operation): Schema {
  const names = csvColumns(operation);
  return {
    schema: {
      type: 'string',
      description: [
        'RFC 4180 in UTF-8: a line of column names, then one line for each row; text is quoted, null is an empty cell.',
        'A text that a spreadsheet would take for a formula has an apostrophe before it.',
        'The header `Link` leads to the next page, which has its own line of names.',
      ].join(' '),
      examples: [`${names.join()}\r\n`],
    },
  };
}
