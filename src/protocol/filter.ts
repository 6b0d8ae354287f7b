// Which events a reader wants: by channel, by place in the tree of graphs, by depth below that place (wire-api §1.10).

/** What a reader asked for. */
export interface EventFilter {
  /** Never empty. A name that no event has matches nothing, which is no error: servers and clients differ in what they know. */
  readonly channels: ReadonlySet<string>;
  /** Prefixes of namespaces; everything when absent or empty. */
  readonly namespaces?: readonly (readonly string[])[] | undefined;
  /** Segments that a namespace may have beyond the prefix. */
  readonly depth?: number | undefined;
}

/** What a filter looks at. */
export interface Filterable {
  /** The channel of its method; `custom` for custom events of any name. */
  readonly channel: string;
  /** `custom:<name>` for named custom events. */
  readonly named: string | undefined;
  readonly namespace: readonly string[];
}

const ROOT: readonly (readonly string[])[] = [[]];

/** The channel that an event of this method belongs to. */
export const channelOf = (method: string): string => (method === "input.requested" ? "input" : method);

/** Whether a reader with this filter gets the event. */
export function matches({ channels, namespaces, depth }: EventFilter, event: Filterable): boolean {
  if (!channels.has(event.channel) && (event.named === undefined || !channels.has(event.named))) return false;
  const prefixes = namespaces === undefined || namespaces.length === 0 ? ROOT : namespaces;
  return prefixes.some(
    (prefix) =>
      isPrefix(prefix, event.namespace) && (depth === undefined || event.namespace.length - prefix.length <= depth),
  );
}

/** Whether a namespace lies below a prefix, whose segments may leave out what comes behind the colon (`node:<task id>`). */
export function isPrefix(prefix: readonly string[], namespace: readonly string[]): boolean {
  return prefix.length <= namespace.length && prefix.every((segment, i) => isSegment(segment, namespace[i]!));
}

function isSegment(wanted: string, segment: string): boolean {
  if (wanted === segment) return true;
  return !wanted.includes(":") && segment.startsWith(`${wanted}:`);
}

/** Filters with the same text want the same. */
export function filterKey({ channels, namespaces, depth }: EventFilter): string {
  return JSON.stringify([[...channels].toSorted(), namespaces ?? [], depth ?? null]);
}
