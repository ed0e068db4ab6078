// What data, files and servers say is never a command to the terminal, nor does it change the order in which it is read.

/** Control characters but line feed and tab, and the marks that turn the direction of text around. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with every such character as an escape, `\u202e`. Inside the strings of JSON that is the same value. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** A text of somebody else as a part of one line. */
export function onOneLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
