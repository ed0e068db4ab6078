// The methods of the Python client: a class for each resource, with an example in each docstring.
import type { ResourceMethod, ResourceTree } from '../../scripts/client-resources.mjs';
import { queryName } from './models.ts';

const HEAD = `"""The operations of the API by resource. Made from its description: see test/python/write.ts."""

from __future__ import annotations

from typing import cast

from typing_extensions import Unpack

from . import models
from ._async_core import AsyncCore, AsyncListing, AsyncResource, new_key
from ._settings import segment
`;

const snake = (name: string): string => name.replaceAll('-', '_').replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a}_${b.toLowerCase()}`);
const pascal = (words: readonly string[]): string => words.map((word) => word.replace(/(^|-)(.)/g, (_, __, letter: string) => letter.toUpperCase())).join('');
const last = (ref: string): string => ref.split('/').at(-1) ?? '';

/** Source of the asynchronous resources. */
export function resourceModule(root: ResourceTree, schemas: Record<string, any>): string {
  return `${HEAD}${classes(root, [], schemas)}`;
}

function classes(tree: ResourceTree, words: readonly string[], schemas: Record<string, any>): string {
  const inner = [...tree.children].map(([name, child]) => classes(child, [...words, name], schemas)).join('');
  const name = words.length === 0 ? 'AsyncResources' : classOf(words);
  const attributes = [...tree.children.keys()].map((child) => `        self.${snake(child)} = ${classOf([...words, child])}(core)\n`);
  const init = attributes.length === 0 ? '' : `\n    def __init__(self, core: AsyncCore) -> None:\n        super().__init__(core)\n${attributes.join('')}`;
  const comment = words.length === 0 ? 'Every resource.' : `Operations of ${words.join(' ')}.`;
  const methods = [...tree.methods].map(([method, of]) => methodOf(method, of, words, schemas)).join('');
  return `${inner}\n\nclass ${name}(AsyncResource):\n    """${comment}"""\n${init}${methods}`;
}

const classOf = (words: readonly string[]): string => `Async${pascal(words)}Resource`;

function methodOf(name: string, method: ResourceMethod, words: readonly string[], schemas: Record<string, any>): string {
  const { verb, path, operation, parameters, input, required, iterates } = method;
  const ids = parameters.map((id) => `${snake(id)}: str`);
  const keyed = operation.parameters?.some((each: any) => each.name === 'Idempotency-Key') === true;
  const body = input === 'body' ? [`body: models.${last(bodyOf(operation).schema.$ref)}${required ? '' : ' | None = None'}`] : [];
  const query = input === 'query' ? [`**filters: Unpack[models.${queryName(operation.operationId)}]`] : [];
  const key = keyed ? ['*', 'idempotency_key: str | None = None'] : [];
  const given = ['self', ...ids, ...body, ...key, ...query].join(', ');
  const result = resultOf(operation);
  const address = parameters.length === 0 ? `"${path}"` : `f"${path.replace(/\{(\w+)\}/g, (_, id: string) => `{segment('${snake(id)}', ${snake(id)})}`)}"`;
  const summary = `        """${operation.summary}: \`${verb.toUpperCase()} ${path}\`.\n\n        >>> ${example(name, method, words)}\n        """\n`;
  if (iterates) {
    const type = `AsyncListing[models.${last(schemas[result].properties.data.items.$ref)}, models.${result}]`;
    return `\n    def ${snake(name)}(${given}) -> ${type}:\n${summary}        return AsyncListing(self._core, ${address}, ${input === 'query' ? 'filters' : '{}'})\n`;
  }
  const sent = [`"${verb.toUpperCase()}"`, address, ...(query.length > 0 ? ['params=filters'] : []), ...(body.length > 0 ? ['body=body'] : [])];
  if (keyed) sent.push('idempotency_key=idempotency_key or new_key()');
  const call = `cast("models.${result}", await self._core.call(${sent.join(', ')}))`;
  return `\n    async def ${snake(name)}(${given}) -> models.${result}:\n${summary}        return ${call}\n`;
}

const bodyOf = ({ requestBody }: any): any => requestBody.content['application/json'];

function resultOf({ responses }: any): string {
  const success = ['200', '201', '202'].find((status) => responses[status] !== undefined) ?? '';
  return last(responses[success].content['application/json'].schema.$ref);
}

/** A call with the examples of the description. */
function example(name: string, { operation, parameters, input, iterates }: ResourceMethod, words: readonly string[]): string {
  const known = new Map<string, any>((operation.parameters ?? []).map((each: any) => [each.name, each]));
  const given = parameters.map((id) => python(known.get(id)?.example ?? known.get(id)?.schema.examples?.[0] ?? id));
  if (input === 'body') given.push(python(bodyOf(operation).example));
  if (input === 'query') for (const each of known.values()) if (each.in === 'query' && each.required) given.push(`${each.name}=${python(each.example)}`);
  const call = `client.${[...words, name].map(snake).join('.')}(${given.join(', ')})`;
  return iterates ? `records = [record async for record in ${call}]` : `answer = await ${call}`;
}

function python(value: any): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${python(each)}`)
    .join(', ')}}`;
}
