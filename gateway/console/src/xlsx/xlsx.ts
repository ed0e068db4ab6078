// Writes spreadsheets (Office Open XML, ECMA-376). A separate file, loaded at the first download.
import type { Sheet, SheetColumn } from './sheet.ts';
import { zip } from './zip.ts';

const KINDS = ['text', 'date', 'money', 'count', 'share'] as const satisfies readonly SheetColumn['kind'][];
const FORMATS: Record<SheetColumn['kind'], string> = {
  text: 'General',
  date: 'yyyy-mm-dd',
  money: '"$"#,##0.00;[Red]-"$"#,##0.00',
  count: '#,##0',
  share: '0.0%',
};
const WIDTHS: Record<SheetColumn['kind'], number> = { text: 28, date: 12, money: 16, count: 10, share: 10 };
/** Indexes of styles.xml: one for each kind, the same ones in bold, and the title of a column of numbers. */
const styleOf = (kind: SheetColumn['kind'], bold: boolean): number => KINDS.indexOf(kind) + (bold ? KINDS.length : 0);
const RIGHT_TITLE = 2 * KINDS.length;

/** Longest text of a cell, in UTF-16 code units: Excel calls a file with a longer one damaged. */
const MOST_CHARACTERS = 32_767;
const CUT = '[…]';
const NOTE = ['Note', `Texts longer than ${MOST_CHARACTERS.toLocaleString('en')} characters, the most that a cell holds, are cut and end in ${CUT}`] as const;

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const PART = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Each sheet has facts above its table, whose head stays visible, and a bold last line of totals if there are any. */
export async function workbook(sheets: readonly Sheet[]): Promise<Blob> {
  const each = (text: (name: string, number: number) => string): string => sheets.map(({ name }, index) => text(escaped(name), index + 1)).join('');
  const files = new Map([
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${PART}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${PART}.styles+xml"/>${each((_, number) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${PART}.worksheet+xml"/>`)}</Types>`,
    ],
    ['_rels/.rels', relations(relation('workbook', 'officeDocument', 'xl/workbook.xml'))],
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${each((name, number) => `<sheet name="${name}" sheetId="${number}" r:id="sheet${number}"/>`)}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relations(relation('styles', 'styles', 'styles.xml') + each((_, number) => relation(`sheet${number}`, 'worksheet', `worksheets/sheet${number}.xml`))),
    ],
    ['xl/styles.xml', styles()],
    ...sheets.map((sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, worksheet(withNote(sheet))] as const),
  ]);
  return await zip(files, TYPE);
}

const relations = (all: string): string => `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${all}</Relationships>`;
const relation = (id: string, type: string, target: string): string => `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;

function styles(): string {
  /** Numbers below 164 are formats of the standard. */
  const format = (index: number): number => (index === 0 ? 0 : 164 + index);
  const styleWith = (index: number, font: number, more = ''): string =>
    `<xf numFmtId="${format(index)}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"${more === '' ? '/>' : ` applyAlignment="1">${more}</xf>`}`;
  const fonts = '<font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font>';
  const all = [0, 1].map((font) => KINDS.map((_, index) => styleWith(index, font)).join('')).join('') + styleWith(0, 1, '<alignment horizontal="right"/>');
  return `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="${KINDS.length - 1}">${KINDS.slice(1)
    .map((kind, index) => `<numFmt numFmtId="${format(index + 1)}" formatCode="${escaped(FORMATS[kind])}"/>`)
    .join(
      '',
    )}</numFmts><fonts count="2">${fonts}</fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${RIGHT_TITLE + 1}">${all}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}

function worksheet({ facts, columns, rows, total }: Sheet): string {
  const above = facts.length + 2;
  const widths = columns.map(({ kind, title }, index) => {
    const number = index + 1;
    return `<col min="${number}" max="${number}" width="${Math.max(WIDTHS[kind], title.length + 2)}" customWidth="1"/>`;
  });
  const lines: string[] = [];
  const line = (cells: readonly ((at: string) => string)[]): void => {
    const number = lines.length + 1;
    lines.push(`<row r="${number}">${cells.map((write, index) => write(`${letters(index)}${number}`)).join('')}</row>`);
  };
  for (const [title, text] of facts) line([(at) => textCell(at, title, styleOf('text', true)), (at) => textCell(at, text, styleOf('text', false))]);
  line([]);
  line(
    columns.map(
      ({ title, kind }) =>
        (at) =>
          textCell(at, title, kind === 'text' || kind === 'date' ? styleOf('text', true) : RIGHT_TITLE),
    ),
  );
  for (const row of rows) line(row.map((value, index) => (at) => cell(at, value, columns[index]!.kind, false)));
  if (total !== undefined) line(total.map((value, index) => (at) => cell(at, value, columns[index]!.kind, true)));
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="${above}" topLeftCell="A${above + 1}" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>${lines.join('')}</sheetData></worksheet>`;
}

/** "A" of 0, "AA" of 26 */
function letters(index: number): string {
  return (index < 26 ? '' : letters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));
}

function cell(at: string, value: string | number | null, kind: SheetColumn['kind'], bold: boolean): string {
  if (value === null) return '';
  if (typeof value === 'number') return numberCell(at, kind === 'money' ? value / 100 : value, styleOf(kind, bold));
  // A day has no zone; a spreadsheet's dates have none either.
  if (kind === 'date' && /^\d{4}-\d\d-\d\d$/.test(value)) return numberCell(at, serial(value), styleOf('date', bold));
  return textCell(at, value, styleOf('text', bold));
}

/** Days since 1899-12-30, by which spreadsheets count. */
const serial = (day: string): number => (Date.parse(`${day}T00:00:00Z`) - Date.UTC(1899, 11, 30)) / 86_400_000;

const numberCell = (at: string, value: number, style: number): string => `<c r="${at}" s="${style}"><v>${value}</v></c>`;
const textCell = (at: string, text: string, style: number): string =>
  `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(fitting(text))}</t></is></c>`;

/** Characters that XML cannot have, half surrogates among them. */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function escaped(text: string): string {
  return text.replace(IMPOSSIBLE, '').replace(/[&<>"\r]/g, (character) => `&#${character.charCodeAt(0)};`);
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
