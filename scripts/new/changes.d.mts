/** A request that cannot be fulfilled; the message says what to do instead. */
export class Refusal extends Error {}

/** Changes of a checkout that are made together. */
export class Changes {
  constructor(root: string);
  create(path: string, text: string): void;
  /** Puts `by` in the place of a text that is there exactly once. */
  replace(path: string, text: string, by: string): void;
  insertBefore(path: string, text: string, added: string): void;
  /** Leaves none of the changes where one cannot be written. */
  write(): void;
}
