/** Details of an answer that are printed. */
const MOST_DETAILS = 5;

export interface AnsweredError {
  readonly message: string;
  readonly details?: readonly { readonly field: string; readonly message: string }[];
}

/** The option of a command that a field of its requests comes from. */
export type OptionOf = (field: string) => string;

/** What an error says: its first details, one on each line, as in "--from: Give a date."; without details its message. */
export function reasonsOf({ message, details = [] }: AnsweredError, optionOf: OptionOf = (field) => field): string {
  if (details.length === 0) return message;
  const lines = details.slice(0, MOST_DETAILS).map((detail) => `${optionOf(detail.field)}: ${detail.message}`);
  const left = details.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n');
}
