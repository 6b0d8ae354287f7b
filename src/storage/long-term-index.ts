// The in-memory index of the long-term store: a tree of namespace labels. Every node of the tree links all items below it by
// recency, so that a search under any prefix walks exactly the items under it, newest first, and stops when it has enough.
// It holds heads only, about 600 bytes an item; it is derived from the database at start and never the truth.

import type { ItemHead } from "./long-term-record.ts";

/** One item in the index; a put makes a new entry. */
export interface Entry {
  /** As stored. A refresh of the ttl replaces it, with the same name, times and sequence. */
  head: ItemHead;
  readonly storageKey: string;
  /** Milliseconds since the epoch; Infinity when it never expires. May be later than `head` says, see LongTermStore. */
  expiresAt: number;
}

/** A place of an entry in the recency list of one node. */
interface Link {
  readonly entry: Entry;
  older: Link | undefined;
  newer: Link | undefined;
}

class Node {
  readonly children = new Map<string, Node>();
  /** Items of exactly this namespace. */
  readonly items = new Map<string, Entry>();
  /** Most recent item of this namespace or one below. */
  newest: Link | undefined;
}

/** Which namespaces to list; `*` in `path` stands for any one label. */
export interface NamespaceCondition {
  readonly matchType: "prefix" | "suffix";
  readonly path: readonly string[];
}

export class LongTermIndex {
  /** Counts the changes: what was looked up stays right until it differs. */
  changes = 0;
  /** The entries that have a time to live. */
  readonly expiring = new Set<Entry>();
  readonly #root = new Node();
  /** Per entry its links, from the root's list down to the list of its own namespace. */
  readonly #links = new WeakMap<Entry, readonly Link[]>();

  find(namespace: readonly string[], key: string): Entry | undefined {
    return this.#node(namespace)?.items.get(key);
  }

  /** Whether an entry is still in the index: neither deleted nor replaced by a later put. */
  has(entry: Entry): boolean {
    return this.#links.has(entry);
  }

  /** Adds an entry as the most recent one, in place of an entry of the same name. */
  insert(entry: Entry): void {
    const { namespace, key } = entry.head;
    const replaced = this.find(namespace, key);
    if (replaced !== undefined) this.remove(replaced);
    this.changes++;
    let node = this.#root;
    const links = [push(node, entry)];
    for (const label of namespace) {
      let child = node.children.get(label);
      if (child === undefined) node.children.set(label, (child = new Node()));
      node = child;
      links.push(push(node, entry));
    }
    node.items.set(key, entry);
    this.#links.set(entry, links);
    if (entry.expiresAt !== Infinity) this.expiring.add(entry);
  }

  /** Takes out an entry; one that was taken out or replaced before is ignored. */
  remove(entry: Entry): void {
    const links = this.#links.get(entry);
    if (links === undefined) return;
    this.changes++;
    this.#links.delete(entry);
    this.expiring.delete(entry);
    let node = this.#root;
    unlink(node, links[0] as Link);
    for (const [depth, label] of entry.head.namespace.entries()) {
      const child = node.children.get(label) as Node;
      unlink(child, links[depth + 1] as Link);
      if (child.newest === undefined) node.children.delete(label);
      node = child;
    }
    node.items.delete(entry.head.key);
  }

  /** Visits the entries at and below a namespace, last put first. The index must not change meanwhile. */
  *newestFirst(prefix: readonly string[]): Generator<Entry, void, undefined> {
    for (let link = this.#node(prefix)?.newest; link !== undefined; link = link.older) yield link.entry;
  }

  /**
   * The namespaces that hold items and meet all conditions, sorted by labels in code-unit order; with `maxDepth` cut to so many
   * labels, without repeats.
   * @param sees which items count; all by default.
   */
  namespaces(
    conditions: readonly NamespaceCondition[],
    maxDepth = Infinity,
    sees?: (entry: Entry) => boolean,
  ): string[][] {
    const found: string[][] = [];
    const holds = ({ items }: Node): boolean => (sees === undefined ? items.size > 0 : [...items.values()].some(sees));
    const walk = (node: Node, path: readonly string[]): void => {
      if (holds(node) && conditions.every((condition) => meets(path, condition))) {
        const cut = path.slice(0, maxDepth);
        const last = found.at(-1);
        // The walk is in order, so the namespaces that are cut to the same one come one after another.
        if (last === undefined || !isEqual(last, cut)) found.push(cut);
      }
      for (const label of [...node.children.keys()].toSorted(byCodeUnits)) {
        walk(node.children.get(label) as Node, [...path, label]);
      }
    };
    walk(this.#root, []);
    return found;
  }

  #node(path: readonly string[]): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const label of path) {
      node = node.children.get(label);
      if (node === undefined) return undefined;
    }
    return node;
  }
}

function push(node: Node, entry: Entry): Link {
  const link: Link = { entry, older: node.newest, newer: undefined };
  if (node.newest !== undefined) node.newest.newer = link;
  node.newest = link;
  return link;
}

function unlink(node: Node, link: Link): void {
  if (link.older !== undefined) link.older.newer = link.newer;
  if (link.newer === undefined) node.newest = link.older;
  else link.newer.older = link.older;
}

function meets(path: readonly string[], condition: NamespaceCondition): boolean {
  const wanted = condition.path;
  const from = condition.matchType === "prefix" ? 0 : path.length - wanted.length;
  return from >= 0 && wanted.every((label, i) => path.length > i && (label === "*" || label === path[from + i]));
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, i) => label === b[i]);
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
