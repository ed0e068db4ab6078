import type { Statement } from '@truckroll/postgres';

/** Common table expressions, `a as (…), b as (…)`, with their own $1, $2 … */
export type Expressions = Pick<Statement, 'text' | 'values'>;

const texts = new Map<string, string>();

/** Makes a statement that changes rows a part of another statement. */
export function expression(name: string, { text, values = [] }: Statement): Expressions {
  return { text: `${name} as (${text})`, values };
}

/**
 * Combines changes of different tables into one statement, at half the cost of separate ones. Each part sees the tables as they
 * were before the statement, and the rows returned by earlier parts. `answer` is the final select list: "column from part". The
 * texts of `parts` must be the same whenever the name is used.
 */
export function combine(name: string, parts: readonly Expressions[], answer = ''): Statement {
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
