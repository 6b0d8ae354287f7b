// Finds the types of a graph and of the graphs inside it. A compiled graph bears its own on members that exist for the checker alone; of
// its nodes it only knows the names, so subgraphs are found where the code adds them.
import { ts } from "@ts-morph/common";

/** The types of one graph. */
export interface GraphTypes {
  readonly input?: ts.Type;
  readonly output?: ts.Type;
  /** Absent for an agent and for a graph of the functional API. */
  readonly state?: ts.Type;
  readonly context?: ts.Type;
}

/** A graph in the code: its type, and the expression or function that makes it, if that was found. */
export interface FoundGraph {
  readonly type: ts.Type;
  readonly maker?: ts.Node;
}

/** The graph that `file` exports as `name`; undefined when the types do not tell of one. */
export function exportedGraph(program: ts.Program, file: string, name: string): FoundGraph | undefined {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) return undefined;
  const symbol = checker
    .getExportsOfModule(module)
    .find((each) => each.escapedName === ts.escapeLeadingUnderscores(name));
  if (!symbol) return undefined;
  const target = original(symbol, checker);
  const type = graphOf(checker.getTypeOfSymbol(target), checker, true);
  const maker = makerOf(target);
  return type && { type, ...(maker ? { maker } : {}) };
}

/** The type of the graph or agent that a value of `type` is or leads to: a builder compiles to one, a factory returns one. */
export function graphOf(type: ts.Type, checker: ts.TypeChecker, mayBeFactory: boolean, steps = 6): ts.Type | undefined {
  if (steps === 0) return undefined;
  const again = (next: ts.Type | undefined): ts.Type | undefined =>
    next && graphOf(next, checker, mayBeFactory, steps - 1);
  if (type.isUnion()) {
    for (const each of type.types) {
      const found = again(each);
      if (found) return found;
    }
    return undefined;
  }
  if (type.getProperty("~InputType")) return type;
  const awaited = checker.getAwaitedType(type);
  if (awaited && awaited !== type) return again(awaited);
  const inner = type.getProperty("graph");
  // An agent knows more of its types than the graph in it.
  if (inner && checker.getTypeOfSymbol(inner).getProperty("~InputType")) return type;
  const compile = type.getProperty("compile");
  const makers = compile
    ? checker.getTypeOfSymbol(compile).getCallSignatures()
    : mayBeFactory
      ? type.getCallSignatures()
      : [];
  return again(makers[0]?.getReturnType());
}

/** What a graph takes, gives and holds. */
export function typesOf(graph: ts.Type, checker: ts.TypeChecker): GraphTypes {
  const member = (name: string): ts.Type | undefined => {
    const symbol = graph.getProperty(name);
    return symbol && checker.getTypeOfSymbol(symbol);
  };
  const awaited = (type: ts.Type | undefined): ts.Type | undefined => type && (checker.getAwaitedType(type) ?? type);
  const [invoke] = member("invoke")?.getCallSignatures() ?? [];
  const [first, options] = (invoke?.getParameters() ?? []).map((each) => checker.getTypeOfSymbol(each));
  const input = member("~InputType") ?? (first && withoutCommands(first));
  const output = awaited(member("~OutputType") ?? invoke?.getReturnType());
  const state = member("~RunOutput");
  const context = options && checker.getNonNullableType(options).getProperty("context");
  return {
    ...(input ? { input } : {}),
    ...(output ? { output } : {}),
    ...(state ? { state } : {}),
    ...(context ? { context: checker.getNonNullableType(checker.getTypeOfSymbol(context)) } : {}),
  };
}

/** What an agent takes besides commands and the null of a resumed run. */
function withoutCommands(type: ts.Type): ts.Type | undefined {
  const isInput = (each: ts.Type): boolean =>
    !(each.flags & ts.TypeFlags.Null) && !["Command", "CommandInstance"].includes(each.symbol?.name);
  const [input, ...others] = (type.isUnion() ? type.types : [type]).filter(isInput);
  return others.length === 0 ? input : undefined;
}

/** What `symbol` stands for, through imports and exports. */
export function original(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The expression that gives `symbol` its value, or the function that it is. */
export function makerOf(symbol: ts.Symbol): ts.Node | undefined {
  for (const declaration of symbol.declarations ?? []) {
    if (ts.isVariableDeclaration(declaration)) return declaration.initializer;
    if (ts.isExportAssignment(declaration)) return declaration.expression;
    if (ts.isFunctionDeclaration(declaration) && declaration.body) return declaration;
  }
  return undefined;
}
