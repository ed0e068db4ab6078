// The descriptor images written by `buf build`: the content of proto/ at run time. Comments are most of their size and rarely needed,
// so they are a separate image that is read on first use.
import { createFileRegistry, fromBinary, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescEnum, DescExtension, DescField, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const image = (name: string): FileDescriptorSet => fromBinary(FileDescriptorSetSchema, readFileSync(join(import.meta.dirname, 'gen', name)));

export const registry = createFileRegistry(image('uncommented.binpb'));

type Described = DescMessage | DescField | DescMethod | DescService | DescEnum;

function extension(name: string): DescExtension {
  const found = registry.getExtension(name);
  if (found === undefined) throw new Error(`proto/ does not define the option ${name}`);
  return found;
}

/** The value of an option such as `truckroll.options.v1.naming`; undefined if the element does not set it. Throws if proto/ does not define the option. */
export function option<T>(desc: Described, name: string): T | undefined {
  // The library types an option by the element it extends; here its name is only known at run time.
  const has = hasOption as (element: Described, ext: DescExtension) => boolean;
  const get = getOption as (element: Described, ext: DescExtension) => unknown;
  const ext = extension(name);
  return has(desc, ext) ? (get(desc, ext) as T) : undefined;
}

export function allServices(): DescService[] {
  return [...registry]
    .filter((desc): desc is DescService => desc.kind === 'service' && desc.typeName.startsWith('truckroll.'))
    .sort((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

/** An element's comment in proto/ as one paragraph, without its line `Example: …`, which is returned apart. The first call reads the image of comments. */
export function documentation(desc: Described | DescEnum['values'][number]): { text: string; example?: string } {
  const lines = (commentOf(desc) ?? '').split('\n').map((line) => line.trim());
  const example = lines.find((line) => line.startsWith('Example: '))?.slice('Example: '.length);
  const text = lines.filter((line) => line !== '' && !line.startsWith('Example: ')).join(' ');
  return example === undefined ? { text } : { text, example };
}

let comments: Map<string, string> | undefined;

/** The comment of an element, looked up by its path in FileDescriptorProto as SourceCodeInfo addresses it. */
function commentOf(desc: Described | DescEnum['values'][number]): string | undefined {
  comments ??= new Map(
    image('truckroll.binpb').file.flatMap(({ name, sourceCodeInfo }) =>
      (sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [`${name} ${path.join('.')}`, leadingComments] as const),
    ),
  );
  const { file } = 'file' in desc ? desc : desc.parent;
  return comments.get(`${file.proto.name} ${sourcePath(desc).join('.')}`);
}

const FILE_MESSAGE = 4;
const FILE_ENUM = 5;
const FILE_SERVICE = 6;
const MESSAGE_FIELD = 2;
const MESSAGE_NESTED = 3;
const MESSAGE_ENUM = 4;
const SERVICE_METHOD = 2;
const ENUM_VALUE = 2;

function sourcePath(desc: Described | DescEnum['values'][number]): number[] {
  switch (desc.kind) {
    case 'message':
      return desc.parent === undefined
        ? [FILE_MESSAGE, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...sourcePath(desc.parent), MESSAGE_NESTED, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case 'enum':
      return desc.parent === undefined
        ? [FILE_ENUM, desc.file.proto.enumType.indexOf(desc.proto)]
        : [...sourcePath(desc.parent), MESSAGE_ENUM, desc.parent.proto.enumType.indexOf(desc.proto)];
    case 'enum_value':
      return [...sourcePath(desc.parent), ENUM_VALUE, desc.parent.proto.value.indexOf(desc.proto)];
    case 'service':
      return [FILE_SERVICE, desc.file.proto.service.indexOf(desc.proto)];
    case 'rpc':
      return [...sourcePath(desc.parent), SERVICE_METHOD, desc.parent.proto.method.indexOf(desc.proto)];
    case 'field':
      return [...sourcePath(desc.parent), MESSAGE_FIELD, desc.parent.proto.field.indexOf(desc.proto)];
  }
}
