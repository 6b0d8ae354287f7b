// Finds the graphs that the code of a graph adds as nodes, whether in one chain of calls or in statements of their own. The types of a
// graph know only the names of its nodes.
import { ts } from "@ts-morph/common";
import { graphOf, makerOf, original, type FoundGraph } from "./find.ts";

const MAX_NESTING = 5;
const MAX_SUBGRAPHS = 50;

/** The graphs inside `graph`, by LangGraph's names of them: `node`, and `node|inner` for those inside. */
export function subgraphsOf(graph: FoundGraph, program: ts.Program): Map<string, FoundGraph> {
  const found = new Map<string, FoundGraph>();
  descend(graph, "", 1, new Search(program), found);
  return found;
}

function descend(
  graph: FoundGraph,
  prefix: string,
  nesting: number,
  search: Search,
  found: Map<string, FoundGraph>,
): void {
  if (!graph.maker || nesting > MAX_NESTING) return;
  for (const [name, inner] of search.nodesOf(graph.maker)) {
    if (found.size >= MAX_SUBGRAPHS) return;
    found.set(prefix + name, inner);
    descend(inner, `${prefix}${name}|`, nesting + 1, search, found);
  }
}

class Search {
  readonly #checker: ts.TypeChecker;

  constructor(program: ts.Program) {
    this.#checker = program.getTypeChecker();
  }

  /** The nodes that are graphs, of what `maker` makes. */
  nodesOf(maker: ts.Node): Map<string, FoundGraph> {
    const nodes = new Map<string, FoundGraph>();
    this.#collect(maker, nodes, new Set());
    return nodes;
  }

  #collect(node: ts.Node, nodes: Map<string, FoundGraph>, seen: Set<ts.Node>): void {
    const expression = plain(node);
    if (seen.has(expression)) return;
    seen.add(expression);
    if (ts.isFunctionLike(expression)) {
      for (const returned of returnsOf(expression)) this.#collect(returned, nodes, seen);
    } else if (ts.isCallExpression(expression)) {
      const { expression: callee } = expression;
      if (ts.isPropertyAccessExpression(callee)) {
        this.#addCall(expression, nodes);
        this.#collect(callee.expression, nodes, seen);
      } else this.#collect(callee, nodes, seen);
    } else if (ts.isIdentifier(expression)) {
      const symbol = this.#symbolOf(expression);
      if (!symbol || symbol.valueDeclaration?.getSourceFile().isDeclarationFile === true) return;
      const maker = makerOf(symbol);
      if (maker) this.#collect(maker, nodes, seen);
      const place = symbol.valueDeclaration;
      if (place && ts.isVariableDeclaration(place)) this.#collectStatements(place.getSourceFile(), symbol, nodes);
    }
  }

  /** `builder.addNode(…)` as statements, for a builder in a variable. */
  #collectStatements(source: ts.Node, builder: ts.Symbol, nodes: Map<string, FoundGraph>): void {
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isAdding(node) && this.#symbolOf(rootOf(node)) === builder)
        this.#addCall(node, nodes);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  #addCall(call: ts.CallExpression, nodes: Map<string, FoundGraph>): void {
    if (!isAdding(call)) return;
    const [first, action, options] = call.arguments;
    if (!first) return;
    if (ts.isObjectLiteralExpression(first)) {
      for (const property of first.properties) {
        if (ts.isPropertyAssignment(property)) this.#add(textOf(property.name), property.initializer, undefined, nodes);
        else if (ts.isShorthandPropertyAssignment(property))
          this.#add(property.name.text, property.name, undefined, nodes);
      }
    } else if (ts.isArrayLiteralExpression(first)) {
      for (const entry of first.elements) {
        if (!ts.isArrayLiteralExpression(entry)) continue;
        const [name, inner, more] = entry.elements;
        if (name && inner) this.#add(this.#nameOf(name), inner, more, nodes);
      }
    } else if (action) this.#add(this.#nameOf(first), action, options, nodes);
  }

  #add(
    name: string | undefined,
    action: ts.Expression,
    options: ts.Expression | undefined,
    nodes: Map<string, FoundGraph>,
  ): void {
    if (name === undefined || nodes.has(name)) return;
    // `subgraphs` names the graphs that a function calls; LangGraph looks at nothing else then.
    for (const maker of [...namedSubgraphs(options), action]) {
      const declared = ts.isShorthandPropertyAssignment(maker.parent)
        ? this.#checker.getShorthandAssignmentValueSymbol(maker.parent)
        : undefined;
      const type = graphOf(
        declared ? this.#checker.getTypeOfSymbol(declared) : this.#checker.getTypeAtLocation(maker),
        this.#checker,
        false,
      );
      if (!type) continue;
      nodes.set(name, { type, maker: (declared && makerOf(original(declared, this.#checker))) ?? maker });
      return;
    }
  }

  #nameOf(expression: ts.Expression): string | undefined {
    const type = this.#checker.getTypeAtLocation(expression);
    return type.isStringLiteral() ? type.value : undefined;
  }

  #symbolOf(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(node);
    return symbol && original(symbol, this.#checker);
  }
}

function isAdding(call: ts.CallExpression): boolean {
  const { expression } = call;
  return ts.isPropertyAccessExpression(expression) && ["addNode", "addSequence"].includes(expression.name.text);
}

/** Where a chain of calls begins. */
function rootOf(node: ts.Node): ts.Node {
  let current = plain(node);
  while (ts.isCallExpression(current) || ts.isPropertyAccessExpression(current)) current = plain(current.expression);
  return current;
}

/** Without what changes no value: parentheses, `as`, `satisfies`, `!`, `await`. */
function plain(node: ts.Node): ts.Node {
  const inner = ts.isExpression(node) ? ts.skipPartiallyEmittedExpressions(node) : node;
  const isWrapper =
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner) ||
    ts.isAwaitExpression(inner);
  return isWrapper ? plain(inner.expression) : inner;
}

function returnsOf(maker: ts.SignatureDeclaration): ts.Node[] {
  const { body } = maker as { body?: ts.Node };
  if (!body) return [];
  if (!ts.isBlock(body)) return [body];
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isReturnStatement(node) && node.expression) found.push(node.expression);
    ts.forEachChild(node, visit);
  };
  visit(body);
  return found;
}

function namedSubgraphs(options: ts.Expression | undefined): readonly ts.Expression[] {
  if (!options || !ts.isObjectLiteralExpression(options)) return [];
  for (const property of options.properties) {
    if (!ts.isPropertyAssignment(property) || textOf(property.name) !== "subgraphs") continue;
    return ts.isArrayLiteralExpression(property.initializer) ? property.initializer.elements : [];
  }
  return [];
}

function textOf(name: ts.PropertyName): string | undefined {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined;
}
