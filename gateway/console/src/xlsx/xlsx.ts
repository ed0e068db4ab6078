// Writes spreadsheets. A separate bundle, loaded at the first download.
import writeExcelFile, { type Cell, type SheetData } from 'write-excel-file/universal';
import type { Sheet, SheetColumn } from './sheet.ts';

const FORMATS: Record<SheetColumn['kind'], string | undefined> = {
  text: undefined,
  date: 'yyyy-mm-dd',
  money: '"$"#,##0.00;[Red]-"$"#,##0.00',
  count: '#,##0',
  share: '0.0%',
};
const WIDTHS: Record<SheetColumn['kind'], number> = { text: 28, date: 12, money: 16, count: 10, share: 10 };

/** Longest text of a cell, in UTF-16 code units: Excel calls a file with a longer one damaged. */
const MOST_CHARACTERS = 32_767;
const CUT = '[…]';
const NOTE = ['Note', `Texts longer than ${MOST_CHARACTERS.toLocaleString('en')} characters, the most that a cell holds, are cut and end in ${CUT}`] as const;

/** Each sheet has facts above its table, whose head stays visible, and a bold last line of totals if there are any. */
export async function workbook(sheets: readonly Sheet[]): Promise<Blob> {
  return await writeExcelFile(
    sheets.map(withNote).map(({ name, facts, columns, rows, total }) => ({
      sheet: name,
      columns: columns.map(({ kind, title }) => ({ width: Math.max(WIDTHS[kind], title.length + 2) })),
      stickyRowsCount: facts.length + 2,
      data: [
        ...facts.map(([title, text]): Cell[] => [
          { value: title, fontWeight: 'bold' },
          { value: fitting(text), type: String },
        ]),
        [],
        columns.map(({ title, kind }): Cell => ({ value: title, fontWeight: 'bold', align: kind === 'text' || kind === 'date' ? 'left' : 'right' })),
        ...rows.map((row) => row.map((value, index) => cell(value, columns[index]!))),
        ...(total === undefined ? [] : [total.map((value, index) => cell(value, columns[index]!, true))]),
      ] as SheetData,
    })),
  ).toBlob();
}

function withNote(sheet: Sheet): Sheet {
  const isLong = (text: string | number | null | undefined): boolean => typeof text === 'string' && text.length > MOST_CHARACTERS;
  const cut = [...sheet.facts, ...sheet.rows].some((cells) => cells.some(isLong));
  return cut ? { ...sheet, facts: [...sheet.facts, NOTE] } : sheet;
}

/** The text, cut between characters if a cell does not hold it. */
function fitting(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return text.slice(0, MOST_CHARACTERS - CUT.length).replace(/[\ud800-\udbff]$/, '') + CUT;
}

function cell(value: string | number | null, { kind }: SheetColumn, bold = false): Cell {
  const style = bold ? { fontWeight: 'bold' as const } : {};
  if (value === null) return null;
  if (typeof value === 'string') {
    // A day has no zone; a spreadsheet's dates have none either.
    if (kind === 'date' && /^\d{4}-\d\d-\d\d$/.test(value)) return { value: new Date(`${value}T00:00:00Z`), type: Date, format: FORMATS.date!, ...style };
    return { value: fitting(value), type: String, ...style };
  }
  const format = FORMATS[kind];
  return { value: kind === 'money' ? value / 100 : value, type: Number, ...(format === undefined ? {} : { format }), ...style };
}
