// What a spreadsheet shows, before it is one.

/** Most lines of a spreadsheet: a browser makes it in memory. */
export const MOST_LINES = 200_000;

export interface SheetColumn {
  readonly title: string;
  /** Money is in cents here and in dollars in the file. */
  readonly kind: 'text' | 'date' | 'money' | 'count' | 'share';
}

export interface Sheet {
  readonly name: string;
  /** Lines above the table: company, report, range, as of. */
  readonly facts: readonly (readonly [title: string, text: string])[];
  readonly columns: readonly SheetColumn[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  readonly total: readonly (string | number | null)[] | undefined;
}
