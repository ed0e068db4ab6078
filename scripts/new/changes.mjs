// Changes of a checkout that are made together: all of them are worked out first, and none is left where one cannot be written.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A request that cannot be fulfilled; the message says what to do instead. */
export class Refusal extends Error {}

export class Changes {
  #root;
  /** Changed files by path: the new text, and the text before, which is undefined for a new file. */
  #files = new Map();

  constructor(root) {
    this.#root = root;
  }

  exists(path) {
    return this.#files.has(path) || existsSync(join(this.#root, path));
  }

  read(path) {
    return this.#files.get(path)?.text ?? readFileSync(join(this.#root, path), 'utf8');
  }

  create(path, text) {
    if (this.exists(path)) throw new Refusal(`${path} is there already: choose another name.`);
    this.#files.set(path, { text, before: undefined });
  }

  /** Puts `by` in the place of a text that is there exactly once. */
  replace(path, text, by) {
    this.edit(path, (before) => {
      if (before.split(text).length !== 2) throw new Refusal(`${path} does not have this exactly once, change it by hand: ${text}`);
      return before.replace(text, () => by);
    });
  }

  edit(path, change) {
    const before = this.read(path);
    this.#files.set(path, { text: change(before), before: this.#files.get(path)?.before ?? before });
  }

  insertBefore(path, text, added) {
    this.replace(path, text, `${added}${text}`);
  }

  insertAfter(path, text, added) {
    this.replace(path, text, `${text}${added}`);
  }

  /** Paths in the order in which they were changed. */
  get paths() {
    return [...this.#files.keys()];
  }

  write() {
    const written = [];
    try {
      for (const [path, { text, before }] of this.#files) {
        const file = join(this.#root, path);
        const made = mkdirSync(dirname(file), { recursive: true });
        written.push(() => (before === undefined ? rmSync(made ?? file, { recursive: true, force: true }) : writeFileSync(file, before)));
        writeFileSync(file, text);
      }
    } catch (error) {
      for (const undo of written.toReversed()) undo();
      throw error;
    }
  }
}
