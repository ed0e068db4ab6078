const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined if the bytes are not JSON in UTF-8. A byte-order mark is skipped. */
export function readJsonText(bytes: Buffer): { text: string; json: unknown } | undefined {
  try {
    const text = UTF8.decode(bytes);
    return { text, json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
