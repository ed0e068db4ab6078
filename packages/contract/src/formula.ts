// Text that a spreadsheet could run. It imports nothing, so that the console and the command line share it.

/** Beginnings that spreadsheets may run as a formula. Spreadsheets skip leading white space and treat full-width characters as plain ones. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;

/** The text, after an apostrophe if a spreadsheet could run it as a formula (decisions §13). */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
