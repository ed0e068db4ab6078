import { resource } from '@truckroll/contract';
import type { Tag } from '@truckroll/contract/gen/scheduling/v1/tags';
import { defineTable } from '@truckroll/record-store';
import { named } from '../names/named.ts';

const tagResource = resource('tags');
const targets = tagResource.record.byName.get('applies_to')?.enum?.spellings;

export const tags = defineTable<Tag>({
  resource: tagResource,
  table: 'tags',
  columns: {
    archived: { type: 'boolean', of: ({ archived_at }) => archived_at != null },
  },
  links: {
    applies_to: { table: 'tag_targets', type: 'text', of: ({ applies_to }) => applies_to.flatMap((target) => targets?.get(target) ?? []) },
  },
  afterChange: named('tags'),
});
