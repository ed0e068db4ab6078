// Plans as `explain (format json)` writes them.

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Parent Relationship'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  /** Only with `analyze`, as the next. */
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

/** The node and all that it reads from. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
