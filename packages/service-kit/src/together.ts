import type { Statement } from './connection.ts';

/** Common table expressions, `a as (…), b as (…)`, with their own $1, $2 … */
export type Expressions = Pick<Statement, 'text' | 'values'>;

const texts = new Map<string, string>();

/** A statement that changes rows, as a part of another. */
export function expression(name: string, { text, values = [] }: Statement): Expressions {
  return { text: `${name} as (${text})`, values };
}

/**
 * Changes of different tables as one statement: PostgreSQL runs every part, and each sees what was there before the
 * whole, and what the parts before it return. `answer` is what the whole returns, as "column from part". Each statement of its own would cost as much again as its work. Like any named statement, `parts` have the same
 * texts whenever the name is used.
 */
export function together(name: string, parts: readonly Expressions[], answer = ''): Statement {
  let text = texts.get(name);
  if (text === undefined) {
    let before = 0;
    const numbered = parts.map((part) => {
      const own = part.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`);
      before += part.values?.length ?? 0;
      return own;
    });
    texts.set(name, (text = `with ${numbered.join(',\n')}\nselect ${answer}`));
  }
  return { name, text, values: parts.flatMap(({ values = [] }) => values) };
}
