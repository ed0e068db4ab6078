// Makes text from data, files and servers safe to print: it cannot control the terminal or reorder what is shown.

/** Control characters except line feed and tab, and characters that change the direction of text. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with every such character escaped, `\u202e`. Within JSON strings the value stays the same. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escaped);
}

export function onOneLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
