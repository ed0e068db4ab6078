// Finds the texts that an expression can evaluate to, without running it. Constants, functions and arrays of texts are followed
// through files. What is known only at run time becomes an identifier that begins with UNKNOWN.
import ts from 'typescript';

export const UNKNOWN = 'unknown_';

class Unknown {
  readonly #node: ts.Node;
  readonly #checker: ts.TypeChecker;

  constructor(node: ts.Node, checker: ts.TypeChecker) {
    this.#node = node;
    this.#checker = checker;
  }

  /** A member of the union, where its type is a union of strings such as operators; an identifier otherwise. */
  get text(): string {
    const type = this.#checker.getTypeAtLocation(this.#node);
    const [known] = type.isUnion() ? type.types : [type];
    if (known?.isStringLiteral() === true) return known.value;
    return `${UNKNOWN}${this.#node.getText().toLowerCase().replace(/\W+/g, '_').slice(0, 40)}`;
  }
}

interface Closure {
  readonly function: ts.SignatureDeclaration & { readonly body?: ts.ConciseBody };
  readonly scope: Scope;
}

type Properties = ReadonlyMap<string, () => Value>;
type Value = string | boolean | null | undefined | Unknown | Closure | Properties | readonly Value[];
type Scope = ReadonlyMap<ts.ParameterDeclaration, Value>;

const NOTHING: Scope = new Map();
const NONE_TAKEN: ReadonlyMap<string, number> = new Map();
/** Maximum number of decisions in a text that do not take their first alternative: two of them make every pair. */
const MOST_DEPARTURES = 2;
const DEEPEST = 80;

export class Evaluator {
  readonly #checker: ts.TypeChecker;
  /** By symbol: calls of a function, pushes to an array, assignments to a variable. By name: properties of object literals. */
  readonly #calls = new Map<ts.Symbol, ts.CallExpression[]>();
  readonly #pushes = new Map<ts.Symbol, ts.CallExpression[]>();
  readonly #assigned = new Map<ts.Symbol, ts.Expression[]>();
  readonly #giving = new Map<string, ts.PropertyAssignment[]>();
  readonly #given = new Map<ts.Symbol, ts.Expression[]>();
  /** Alternative taken for each decision in this text, and number of alternatives of each decision met. */
  #taken = NONE_TAKEN;
  #met = new Map<string, number>();
  readonly #symbols = new Map<ts.Node, ts.Symbol | undefined>();
  readonly #keys = new Map<ts.Node, string>();
  readonly #entered = new Set<ts.Node>();
  #depth = 0;

  constructor(checker: ts.TypeChecker, sources: readonly ts.SourceFile[]) {
    this.#checker = checker;
    for (const source of sources) this.#index(source);
  }

  /** One text for each alternative that a condition, a caller or a loop decides, and for each pair of these. */
  textsOf(expression: ts.Expression): string[] {
    const texts = new Set<string>();
    const waiting = [NONE_TAKEN];
    for (const taken of waiting) {
      this.#taken = taken;
      this.#met = new Map();
      texts.add(rendered(this.#evaluate(expression, NOTHING), ''));
      if (taken.size === MOST_DEPARTURES) continue;
      // Decisions met before the last departure have been varied in another text.
      const met = [...this.#met];
      const last = met.findLastIndex(([decision]) => taken.has(decision));
      for (const [decision, count] of met.slice(last + 1)) {
        for (let i = 1; i < count; i++) waiting.push(new Map([...taken, [decision, i]]));
      }
    }
    return [...texts];
  }

  textOf(expression: ts.Expression): string {
    this.#taken = NONE_TAKEN;
    this.#met = new Map();
    return rendered(this.#evaluate(expression, NOTHING), '');
  }

  #index(node: ts.Node): void {
    if (ts.isCallExpression(node)) {
      const { expression } = node;
      if (ts.isIdentifier(expression)) add(this.#calls, this.#symbolOf(expression), node);
      if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'push') add(this.#pushes, this.#symbolOf(expression.expression), node);
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) add(this.#assigned, this.#symbolOf(node.left), node.right);
    if (ts.isPropertyAssignment(node)) add(this.#giving, node.name.getText(), node);
    ts.forEachChild(node, (child) => this.#index(child));
  }

  /** Cached: the checker resolves a name anew each time. */
  #symbolOf(named: ts.Node): ts.Symbol | undefined {
    if (!this.#symbols.has(named)) this.#symbols.set(named, this.#lookUp(named));
    return this.#symbols.get(named);
  }

  #lookUp(named: ts.Node): ts.Symbol | undefined {
    const name = ts.isPropertyAccessExpression(named) ? named.name : named;
    const symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.#checker.getSymbolAtLocation(name);
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /** A decision has the same outcome throughout a text. */
  #choose<T>(decision: ts.Node, alternatives: readonly T[]): T {
    let key = this.#keys.get(decision);
    if (key === undefined) this.#keys.set(decision, (key = `${decision.getSourceFile().fileName} ${decision.getText()}`));
    this.#met.set(key, alternatives.length);
    return alternatives[this.#taken.get(key) ?? 0] as T;
  }

  #evaluate(node: ts.Node, scope: Scope): Value {
    if (this.#depth === DEEPEST) return this.#unknown(node);
    this.#depth++;
    try {
      return this.#valueOf(node, scope);
    } finally {
      this.#depth--;
    }
  }

  #unknown(node: ts.Node): Unknown {
    return new Unknown(node, this.#checker);
  }

  #valueOf(node: ts.Node, scope: Scope): Value {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (node.kind === ts.SyntaxKind.NullKeyword) return null;
    if (ts.isTemplateExpression(node)) {
      return node.templateSpans.reduce((text, span) => text + rendered(this.#evaluate(span.expression, scope), text) + span.literal.text, node.head.text);
    }
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node) || ts.isSatisfiesExpression(node)) {
      return this.#evaluate(node.expression, scope);
    }
    if (ts.isConditionalExpression(node)) {
      const known = this.#evaluate(node.condition, scope);
      const both = [node.whenTrue, node.whenFalse];
      return this.#evaluate(typeof known === 'boolean' ? (both[known ? 0 : 1] as ts.Node) : this.#choose(node.condition, both), scope);
    }
    if (ts.isBinaryExpression(node)) return this.#operation(node, scope);
    if (ts.isArrayLiteralExpression(node)) {
      return node.elements.flatMap((element) => {
        const value = this.#evaluate(ts.isSpreadElement(element) ? element.expression : element, scope);
        return ts.isSpreadElement(element) ? listOf(value) : [value];
      });
    }
    if (ts.isObjectLiteralExpression(node)) return this.#properties(node, scope);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return { function: node, scope };
    if (ts.isIdentifier(node)) return this.#named(node, scope);
    if (ts.isPropertyAccessExpression(node)) return this.#property(node, scope);
    if (ts.isCallExpression(node)) return this.#call(node, scope);
    return this.#unknown(node);
  }

  #operation(node: ts.BinaryExpression, scope: Scope): Value {
    const left = this.#evaluate(node.left, scope);
    if (left instanceof Unknown) return this.#unknown(node);
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return left ?? this.#evaluate(node.right, scope);
    const right = this.#evaluate(node.right, scope);
    const plain = [left, right].every((value) => value === undefined || value === null || typeof value !== 'object');
    if (!plain) return this.#unknown(node);
    if (node.operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken) return left === right;
    if (node.operatorToken.kind === ts.SyntaxKind.ExclamationEqualsEqualsToken) return left !== right;
    if (node.operatorToken.kind === ts.SyntaxKind.PlusToken && isNumber(left) && isNumber(right)) return String(Number(left) + Number(right));
    return this.#unknown(node);
  }

  #properties(node: ts.ObjectLiteralExpression, scope: Scope): Properties {
    return new Map(
      node.properties.flatMap((property): [string, () => Value][] => {
        if (ts.isPropertyAssignment(property)) return [[property.name.getText(), () => this.#evaluate(property.initializer, scope)]];
        if (ts.isShorthandPropertyAssignment(property)) return [[property.name.text, () => this.#named(property.name, scope)]];
        if (!ts.isSpreadAssignment(property)) return [];
        const spread = this.#evaluate(property.expression, scope);
        return spread instanceof Map ? [...(spread as Properties)] : [];
      }),
    );
  }

  #property(node: ts.PropertyAccessExpression, scope: Scope): Value {
    const object = this.#evaluate(node.expression, scope);
    if (object instanceof Map && object.has(node.name.text)) return (object as Properties).get(node.name.text)!();
    if (Array.isArray(object) && node.name.text === 'length') return String(object.length);
    const symbol = this.#symbolOf(node);
    const declared = symbol?.valueDeclaration;
    if (declared !== undefined && ts.isPropertyDeclaration(declared)) return this.#oneOf(declared, this.#valuesOf(declared), NOTHING, node);
    return symbol === undefined ? this.#unknown(node) : this.#oneOf(node.name, this.#givenTo(symbol), NOTHING, node);
  }

  #givenTo(property: ts.Symbol): ts.Expression[] {
    let given = this.#given.get(property);
    if (given === undefined) {
      const named = this.#giving.get(property.name) ?? [];
      given = named
        .filter(({ parent }) => this.#checker.getContextualType(parent)?.getProperty(property.name) === property)
        .map(({ initializer }) => initializer);
      this.#given.set(property, given);
    }
    return given;
  }

  #named(name: ts.Identifier, scope: Scope): Value {
    if (name.text === 'undefined') return undefined;
    const declaration = this.#symbolOf(name)?.valueDeclaration;
    if (declaration === undefined) return this.#unknown(name);
    if (ts.isFunctionDeclaration(declaration)) return { function: declaration, scope: NOTHING };
    if (ts.isParameter(declaration)) return this.#parameter(declaration, name, scope);
    if (ts.isVariableDeclaration(declaration)) return this.#variable(declaration, name, scope);
    return ts.isBindingElement(declaration) ? this.#destructured(declaration, name, scope) : this.#unknown(name);
  }

  #variable(declaration: ts.VariableDeclaration, name: ts.Node, scope: Scope): Value {
    if (ts.isForOfStatement(declaration.parent.parent)) {
      const values = listOf(this.#evaluate(declaration.parent.parent.expression, scope));
      return values.length === 0 ? this.#unknown(name) : this.#choose(declaration, values);
    }
    const values = this.#valuesOf(declaration);
    if ((declaration.parent.flags & ts.NodeFlags.Const) === 0) return this.#oneOf(declaration, values, scope, name);
    const value = values.length === 0 ? this.#unknown(name) : this.#evaluate(values[0]!, scope);
    return Array.isArray(value) ? [...(value as Value[]), ...this.#pushed(declaration, scope)] : value;
  }

  #valuesOf(declaration: ts.VariableDeclaration | ts.PropertyDeclaration): ts.Expression[] {
    const symbol = this.#symbolOf(declaration.name);
    const assigned = symbol === undefined ? [] : (this.#assigned.get(symbol) ?? []);
    return declaration.initializer === undefined ? assigned : [declaration.initializer, ...assigned];
  }

  /** Elements pushed to an array after its declaration: all of them, or one of those that are pushed under a condition. */
  #pushed(array: ts.VariableDeclaration, scope: Scope): Value[] {
    const symbol = this.#symbolOf(array.name);
    const pushes = (symbol === undefined ? undefined : this.#pushes.get(symbol)) ?? [];
    if (this.#entered.has(array)) return [];
    const always = pushes.filter((push) => push.parent.parent === array.parent.parent.parent);
    const perhaps = pushes.filter((push) => !always.includes(push));
    const some = perhaps.length < 2 ? perhaps : this.#choose(array, [perhaps, ...perhaps.map((push) => [push])]);
    this.#entered.add(array);
    try {
      const given = [...always, ...some].flatMap((push) => [...push.arguments]);
      return given.flatMap((argument) =>
        ts.isSpreadElement(argument) ? listOf(this.#evaluate(argument.expression, scope)) : [this.#evaluate(argument, scope)],
      );
    } finally {
      this.#entered.delete(array);
    }
  }

  #destructured(element: ts.BindingElement, name: ts.Node, scope: Scope): Value {
    const path: ts.BindingElement[] = [];
    let root: ts.Node = element;
    for (; ts.isBindingElement(root); root = root.parent.parent) path.unshift(root);
    let value: Value = ts.isParameter(root)
      ? this.#parameter(root, name, scope)
      : ts.isVariableDeclaration(root)
        ? this.#variable(root, name, scope)
        : this.#unknown(name);
    for (const { parent, propertyName, name: own, dotDotDotToken, initializer } of path) {
      const key = (propertyName ?? own).getText();
      if (ts.isArrayBindingPattern(parent)) {
        const place = parent.elements.findIndex((each) => ts.isBindingElement(each) && each.name === own);
        value = Array.isArray(value) ? ((dotDotDotToken === undefined ? value[place] : value.slice(place)) as Value) : this.#unknown(name);
      } else if (value instanceof Map && (value as Properties).has(key)) value = (value as Properties).get(key)!();
      else if (value instanceof Map && initializer !== undefined) value = this.#evaluate(initializer, scope);
      else {
        const property = value instanceof Map ? undefined : this.#checker.getTypeAtLocation(parent).getProperty(key);
        value = property === undefined ? this.#unknown(name) : this.#oneOf(own, this.#givenTo(property), NOTHING, name);
      }
    }
    return value;
  }

  /** The argument of the call that is being evaluated; outside a call, that of one of the calls in the sources. */
  #parameter(parameter: ts.ParameterDeclaration, name: ts.Node, scope: Scope): Value {
    if (scope.has(parameter)) return scope.get(parameter);
    const of = parameter.parent;
    const called = ts.isFunctionDeclaration(of) ? of.name : ts.isVariableDeclaration(of.parent) ? of.parent.name : undefined;
    const symbol = called === undefined ? undefined : this.#symbolOf(called);
    const calls = symbol === undefined ? undefined : this.#calls.get(symbol);
    if (calls === undefined || this.#entered.has(parameter)) return this.#unknown(name);
    this.#entered.add(parameter);
    try {
      const argument = this.#choose(of, calls).arguments[of.parameters.indexOf(parameter)] ?? parameter.initializer;
      return argument === undefined ? undefined : this.#evaluate(argument, NOTHING);
    } finally {
      this.#entered.delete(parameter);
    }
  }

  #oneOf(decision: ts.Node, expressions: readonly ts.Expression[], scope: Scope, name: ts.Node = decision): Value {
    if (expressions.length === 0 || this.#entered.has(decision)) return this.#unknown(name);
    this.#entered.add(decision);
    try {
      return this.#evaluate(this.#choose(decision, expressions), scope);
    } finally {
      this.#entered.delete(decision);
    }
  }

  #call(node: ts.CallExpression, scope: Scope): Value {
    const { expression } = node;
    const arguments_ = (): Value[] => node.arguments.map((argument) => this.#evaluate(argument, scope));
    if (!ts.isPropertyAccessExpression(expression)) {
      const called = this.#evaluate(expression, scope);
      return isClosure(called) ? (this.#apply(called, arguments_()) ?? this.#unknown(node)) : this.#unknown(node);
    }
    const method = expression.name.text;
    if (expression.expression.getText() === 'Object') {
      const [object] = arguments_();
      if (!(object instanceof Map)) return this.#unknown(node);
      const entries = [...(object as Properties)].map(([key, value]) => [key, value()]);
      return method === 'keys' ? entries.map(([key]) => key) : method === 'values' ? entries.map(([, value]) => value) : entries;
    }
    const object = this.#evaluate(expression.expression, scope);
    if (method === 'map' || method === 'flatMap') {
      const [each] = arguments_();
      if (!isClosure(each)) return this.#unknown(node);
      const mapped = listOf(object).map((value, i) => this.#apply(each, [value, String(i)]));
      return method === 'map' ? mapped : mapped.flatMap((value) => (Array.isArray(value) ? (value as Value[]) : [value]));
    }
    if (['filter', 'slice', 'sort', 'toSorted'].includes(method)) return object;
    if (method !== 'join' || !Array.isArray(object)) return this.#unknown(node);
    return object.map((value: Value) => rendered(value, '')).join(rendered(arguments_()[0] ?? ',', ''));
  }

  #apply({ function: called, scope }: Closure, given: readonly Value[]): Value {
    const inner = new Map(scope);
    called.parameters.forEach((parameter, i) => {
      const missing = given[i] === undefined && parameter.initializer !== undefined;
      inner.set(parameter, missing ? this.#evaluate(parameter.initializer, scope) : parameter.dotDotDotToken === undefined ? given[i] : given.slice(i));
    });
    if (called.body === undefined) return undefined;
    return ts.isBlock(called.body) ? this.#returned(called.body.statements, inner) : this.#evaluate(called.body, inner);
  }

  #returned(statements: readonly ts.Statement[], scope: Scope): Value {
    for (const statement of statements) {
      if (ts.isReturnStatement(statement)) return statement.expression && this.#evaluate(statement.expression, scope);
      if (!ts.isIfStatement(statement) || !returns(statement)) continue;
      const known = this.#evaluate(statement.expression, scope);
      const both = [statement.thenStatement, statement.elseStatement];
      const part = typeof known === 'boolean' ? both[known ? 0 : 1] : this.#choose(statement.expression, both);
      const value = part && this.#returned(ts.isBlock(part) ? part.statements : [part], scope);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

function add<K, V>(map: Map<K, V[]>, key: K | undefined, value: V): void {
  if (key === undefined) return;
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

const isClosure = (value: Value): value is Closure => typeof value === 'object' && value !== null && 'function' in value;
/** An unknown value counts as an array with one unknown element. */
const listOf = (value: Value): Value[] => (Array.isArray(value) ? (value as Value[]) : value instanceof Unknown ? [value] : []);

/** An unknown number after `$` becomes 1: which parameter it is makes no difference. */
function rendered(value: Value, before: string): string {
  if (value instanceof Unknown) return before.endsWith('$') ? '1' : value.text;
  if (Array.isArray(value)) return value.map((each: Value) => rendered(each, '')).join(',');
  return typeof value === 'object' && value !== null ? `${UNKNOWN}object` : String(value);
}

function returns(node: ts.Node): boolean {
  return ts.isReturnStatement(node) || (!ts.isFunctionLike(node) && ts.forEachChild(node, returns) === true);
}

/** Numbers, such as that of a parameter, are texts here. */
function isNumber(value: Value): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}
