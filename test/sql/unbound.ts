// Wherever a statement names a table with `company_id`, the column must equal a parameter, or the company_id of another table that
// is bound. Where tables are joined to each other by company_id and to no parameter, only the first is named: it drives a statement
// that works on all companies.
import { parseSync } from 'libpg-query';

type Node = Readonly<Record<string, any>>;

interface Origin {
  bound: boolean;
  /** Origins that bind this one as soon as one of them is bound. */
  readonly follows: Set<Origin>;
  /** Origins that bind this one once all of them are bound. */
  readonly every: readonly Origin[];
}

interface Output {
  readonly name: string;
  readonly origin: Origin | undefined;
}

interface Rows {
  readonly name: string;
  readonly outputs: readonly Output[];
}

interface Scope {
  readonly rows: readonly Rows[];
  readonly outer: Scope | undefined;
  readonly withs: ReadonlyMap<string, readonly Output[]>;
}

const COMPANY = 'company_id';
/** Location of a row, with which a statement finds rows it selected earlier. It implies their company. */
const ROW = 'ctid';
const NO_SCOPE: Scope = { rows: [], outer: undefined, withs: new Map() };

/** The tables that are not bound, as `table alias`. `hasCompany` is true for a table with the column company_id. */
export function unbound(sql: string, hasCompany: (table: string) => boolean): string[] {
  return new Statement(hasCompany).unboundIn(sql);
}

class Statement {
  readonly #hasCompany: (table: string) => boolean;
  readonly #origins: Origin[] = [];
  readonly #required: { readonly label: string; readonly origin: Origin }[] = [];

  constructor(hasCompany: (table: string) => boolean) {
    this.#hasCompany = hasCompany;
  }

  unboundIn(sql: string): string[] {
    for (const { stmt } of parseSync(sql).stmts ?? []) this.#query(stmt as Node, NO_SCOPE);
    const labels: string[] = [];
    for (const { label, origin } of this.#required) {
      this.#propagate();
      if (origin.bound) continue;
      origin.bound = true;
      const before = labels.filter((each) => each === label || each.startsWith(`${label} (`)).length;
      labels.push(before === 0 ? label : `${label} (${before + 1})`);
    }
    return labels;
  }

  #propagate(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const origin of this.#origins) {
        if (origin.bound) continue;
        origin.bound = [...origin.follows].some(({ bound }) => bound) || (origin.every.length > 0 && origin.every.every(({ bound }) => bound));
        changed ||= origin.bound;
      }
    }
  }

  #origin(bound = false, every: readonly Origin[] = []): Origin {
    const origin = { bound, follows: new Set<Origin>(), every };
    this.#origins.push(origin);
    return origin;
  }

  #query(statement: Node, outer: Scope): readonly Output[] {
    const [[kind, node] = ['', {}]] = Object.entries(statement) as [string, Node][];
    if (kind === 'SelectStmt') return this.#select(node, outer);
    if (kind === 'InsertStmt') return this.#insert(node, outer);
    if (kind === 'UpdateStmt' || kind === 'DeleteStmt') return this.#change(node, outer);
    if (kind === 'MergeStmt') return this.#merge(node, outer);
    return [];
  }

  #withs(node: Node, outer: Scope): ReadonlyMap<string, readonly Output[]> {
    const withs = new Map(outer.withs);
    for (const { CommonTableExpr: each } of node['withClause']?.ctes ?? []) {
      const inner: Scope = { rows: [], outer, withs };
      const recursive: Node | undefined = node['withClause'].recursive === true ? each.ctequery.SelectStmt?.larg : undefined;
      // The second part of a recursive expression reads the columns of the first.
      if (recursive !== undefined) withs.set(each.ctename, renamed(this.#select(recursive, inner), each.aliascolnames));
      withs.set(each.ctename, renamed(this.#query(each.ctequery, inner), each.aliascolnames));
    }
    return withs;
  }

  #select(node: Node, outer: Scope): readonly Output[] {
    const around: Scope = { ...outer, withs: this.#withs(node, outer) };
    if (node['larg'] !== undefined) {
      const [left, right] = [this.#select(node['larg'], around), this.#select(node['rarg'], around)];
      return left.map(({ name, origin }, i) => ({ name, origin: this.#either(origin, right[i]?.origin) }));
    }
    if (node['valuesLists'] !== undefined) {
      const rows: Node[][] = node['valuesLists'].map(({ List }: Node) => List.items);
      return rows[0]!.map((_, i) => ({ name: `column${i + 1}`, origin: this.#all(rows.map((row) => this.#originOf(row[i]!, around))) }));
    }
    const scope = this.#from(node['fromClause'] ?? [], around);
    this.#compare(node['whereClause'], scope, scope.rows);
    const outputs = this.#outputs(node['targetList'] ?? [], scope);
    for (const part of ['groupClause', 'havingClause', 'sortClause', 'limitCount', 'limitOffset', 'distinctClause', 'windowClause'])
      this.#subqueries(node[part], scope);
    return outputs;
  }

  /** A column of a UNION is bound if all its parts are. A restriction of the column restricts each part. */
  #either(left: Origin | undefined, right: Origin | undefined): Origin | undefined {
    const both = this.#all([left, right]);
    if (both !== undefined && both !== left) for (const part of [left!, right!]) part.follows.add(both);
    return both;
  }

  #all(origins: readonly (Origin | undefined)[]): Origin | undefined {
    const known = origins.filter((origin) => origin !== undefined);
    if (known.length < origins.length || known.length === 0) return undefined;
    return known.length === 1 ? known[0] : this.#origin(false, known);
  }

  #insert(node: Node, outer: Scope): readonly Output[] {
    const around: Scope = { ...outer, withs: this.#withs(node, outer) };
    const selected = node['selectStmt'] === undefined ? [] : this.#select(node['selectStmt'].SelectStmt, around);
    const target = this.#table(node['relation']);
    const place: number = (node['cols'] ?? []).findIndex(({ ResTarget }: Node) => ResTarget.name === COMPANY);
    const given = place < 0 ? undefined : selected[place]?.origin;
    if (given !== undefined) companyOf(target)?.follows.add(given);
    const scope: Scope = { ...around, rows: [target, { ...target, name: 'excluded' }], outer };
    this.#subqueries(node['onConflictClause'], scope);
    return this.#outputs(returning(node), { ...scope, rows: [target] });
  }

  #change(node: Node, outer: Scope): readonly Output[] {
    const around: Scope = { ...outer, withs: this.#withs(node, outer) };
    const target = this.#table(node['relation']);
    const scope = this.#from(node['fromClause'] ?? node['usingClause'] ?? [], around, [target]);
    this.#compare(node['whereClause'], scope, scope.rows);
    this.#subqueries(node['targetList'], scope);
    return this.#outputs(returning(node), scope);
  }

  #merge(node: Node, outer: Scope): readonly Output[] {
    const around: Scope = { ...outer, withs: this.#withs(node, outer) };
    const target = this.#table(node['relation']);
    const scope = this.#from([node['sourceRelation']], around, [target]);
    this.#compare(node['joinCondition'], scope, scope.rows);
    for (const { MergeWhenClause: when } of node['mergeWhenClauses']) {
      if (when.commandType === 'CMD_INSERT') {
        const place = when.targetList.findIndex(({ ResTarget }: Node) => ResTarget.name === COMPANY);
        const inserted = this.#requiredFor(node['relation']);
        const given = place < 0 ? undefined : this.#originOf(when.values[place], scope);
        if (given !== undefined) inserted?.follows.add(given);
      } else this.#subqueries(when, scope);
    }
    return this.#outputs(returning(node), scope);
  }

  #from(items: readonly Node[], around: Scope, first: readonly Rows[] = []): Scope {
    let scope: Scope = { rows: first, outer: around, withs: around.withs };
    for (const item of items) scope = { ...scope, rows: [...scope.rows, ...this.#item(item, scope)] };
    return scope;
  }

  #item(item: Node, scope: Scope): readonly Rows[] {
    const [[kind, node] = ['', {}]] = Object.entries(item) as [string, Node][];
    const names: Node[] | undefined = node['alias']?.colnames;
    if (kind === 'JoinExpr') return this.#join(node, scope);
    if (kind === 'RangeVar') {
      const cte = node['schemaname'] === undefined ? scope.withs.get(node['relname']) : undefined;
      if (cte === undefined) return [this.#table(node)];
      // The expression may appear twice: a restriction of one use does not restrict the other.
      const own = cte.map(({ name, origin }) => ({ name, origin: origin && this.#following(origin) }));
      return [{ name: node['alias']?.aliasname ?? node['relname'], outputs: renamed(own, names) }];
    }
    if (kind === 'RangeSubselect') {
      const outputs = this.#query(node['subquery'], { ...scope, outer: scope });
      return [{ name: node['alias']?.aliasname ?? '', outputs: renamed(outputs, names) }];
    }
    if (kind !== 'RangeFunction') return [];
    // A function of parameters, such as unnest, returns columns that are parameters too.
    const origin = this.#originOf(node['functions'], scope);
    const name: string = node['alias']?.aliasname ?? '';
    const columns = names?.map(({ String: { sval } }) => sval as string) ?? [name];
    return [{ name, outputs: columns.map((column) => ({ name: column, origin })) }];
  }

  #following(origin: Origin): Origin {
    const own = this.#origin();
    own.follows.add(origin);
    return own;
  }

  #join(node: Node, scope: Scope): readonly Rows[] {
    const left = this.#item(node['larg'], scope);
    const right = this.#item(node['rarg'], { ...scope, rows: [...scope.rows, ...left] });
    const within = { ...scope, rows: [...scope.rows, ...left, ...right] };
    // An outer join keeps the rows of one side regardless of its condition.
    const restricted = { JOIN_LEFT: right, JOIN_RIGHT: left, JOIN_FULL: [] }[node['jointype'] as string] ?? [...left, ...right];
    this.#compare(node['quals'], within, restricted);
    if (node['usingClause']?.some((column: Node) => column['String'].sval === COMPANY)) {
      const companies = [left, right].map((side) => side.map(companyOf).find((origin) => origin !== undefined));
      this.#equal(companies[0], companies[1], node['jointype'] === 'JOIN_INNER', true);
    }
    return [...left, ...right];
  }

  #table({ relname, alias }: Node): Rows {
    const name: string = alias?.aliasname ?? relname;
    const origin = this.#requiredFor({ relname, alias });
    if (origin !== undefined) return { name, outputs: [COMPANY, ROW].map((column) => ({ name: column, origin })) };
    // The id of integrations' companies is what other tables call company_id.
    return { name, outputs: relname === 'companies' ? [{ name: 'id', origin: this.#origin() }] : [] };
  }

  #requiredFor({ relname, alias }: Node): Origin | undefined {
    if (!this.#hasCompany(relname)) return undefined;
    const origin = this.#origin();
    this.#required.push({ label: alias === undefined || alias.aliasname === relname ? relname : `${relname} ${alias.aliasname}`, origin });
    return origin;
  }

  #outputs(targets: readonly Node[], scope: Scope): readonly Output[] {
    return targets.flatMap(({ ResTarget: { name, val } }: Node): readonly Output[] => {
      const fields: Node[] | undefined = val.ColumnRef?.fields;
      if (fields?.at(-1)?.['A_Star'] !== undefined) {
        const of: string | undefined = fields.length > 1 ? fields.at(-2)!['String'].sval : undefined;
        return scope.rows.filter((rows) => of === undefined || rows.name === of).flatMap(({ outputs }) => outputs);
      }
      return [{ name: name ?? fields?.at(-1)?.['String']?.sval ?? '', origin: this.#originOf(val, scope) }];
    });
  }

  /** Reads a condition that rows must meet: the company of rows in `restricted` follows the value that it is compared with. */
  #compare(condition: Node | undefined, scope: Scope, restricted: readonly Rows[]): void {
    if (condition === undefined) return;
    const { BoolExpr: all, A_Expr: comparison, SubLink: among } = condition;
    if (all?.boolop === 'AND_EXPR') {
      for (const each of all.args) this.#compare(each, scope, restricted);
      return;
    }
    const equal = comparison?.name.at(-1).String.sval === '=' && ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN', 'AEXPR_NOT_DISTINCT'].includes(comparison.kind);
    if (equal) this.#equalPair(comparison.lexpr, comparison.rexpr, scope, restricted);
    else if (among?.subLinkType === 'ANY_SUBLINK' && among.operName === undefined) {
      const outputs = this.#query(among.subselect, scope);
      const tested: Node[] = among.testexpr.RowExpr?.args ?? [among.testexpr];
      tested.forEach((each, i) => this.#restrict(each, outputs[i]?.origin, scope, restricted));
    } else this.#subqueries(condition, scope);
  }

  #equalPair(left: Node, right: Node, scope: Scope, restricted: readonly Rows[]): void {
    const [lefts, rights]: (Node[] | undefined)[] = [left['RowExpr']?.args, right['RowExpr']?.args];
    if (lefts !== undefined && rights !== undefined) {
      lefts.forEach((each, i) => this.#equalPair(each, rights[i]!, scope, restricted));
      return;
    }
    const origins = [left, right].map((side) => this.#originOf(side, scope));
    this.#restrict(left, origins[1], scope, restricted);
    this.#restrict(right, origins[0], scope, restricted);
  }

  /** A comparison in an inner query does not restrict a column of the outer one. */
  #restrict(side: Node, by: Origin | undefined, scope: Scope, restricted: readonly Rows[]): void {
    const column = columnOf(side);
    const own = column && found(column, restricted);
    if (own !== undefined && by !== undefined && own !== by && this.#originOf(side, scope) === own) own.follows.add(by);
  }

  #equal(left: Origin | undefined, right: Origin | undefined, ...ways: [toLeft: boolean, toRight: boolean]): void {
    if (left === undefined || right === undefined) return;
    if (ways[0]) left.follows.add(right);
    if (ways[1]) right.follows.add(left);
  }

  /** Origin of the company in an expression. One without columns is a parameter or a constant, and bound. */
  #originOf(expression: unknown, scope: Scope): Origin | undefined {
    const origins: (Origin | undefined)[] = [];
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { ColumnRef: column, SubLink: link } = value as Node;
      if (link !== undefined) {
        look(link.testexpr);
        origins.push(this.#query(link.subselect, scope)[0]?.origin);
      } else if (column !== undefined) origins.push(this.#column(column, scope));
      else Object.values(value).forEach(look);
    };
    look(expression);
    return origins.length === 0 ? this.#origin(true) : this.#all(origins);
  }

  #column(column: Node, scope: Scope): Origin | undefined {
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
      const origin = found(column, at.rows);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  #subqueries(expression: unknown, scope: Scope): void {
    this.#originOf(expression, scope);
  }
}

/** PostgreSQL 18 wraps the columns of RETURNING in another node. */
const returning = (node: Node): Node[] => node['returningClause']?.exprs ?? node['returningList'] ?? [];

const companyOf = ({ outputs }: Rows): Origin | undefined => outputs.find(({ name }) => name === COMPANY)?.origin;

function renamed(outputs: readonly Output[], names: readonly Node[] | undefined): readonly Output[] {
  return names === undefined ? outputs : outputs.map(({ name, origin }, i) => ({ name: names[i]?.['String'].sval ?? name, origin }));
}

function columnOf(expression: Node): Node | undefined {
  if (expression['TypeCast'] !== undefined) return columnOf(expression['TypeCast'].arg);
  return expression['ColumnRef'];
}

function found({ fields }: Node, among: readonly Rows[]): Origin | undefined {
  const [column, of]: (string | undefined)[] = [...fields].reverse().map((field: Node) => field['String']?.sval);
  return among
    .filter(({ name }) => of === undefined || name === of)
    .flatMap(({ outputs }) => outputs)
    .find(({ name }) => name === column)?.origin;
}
