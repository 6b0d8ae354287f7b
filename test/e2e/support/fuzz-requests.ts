// Requests that are right but for one or two things: a parameter of the path, the query, a header, or the body.
import type { ApiDocument, Described, Schema } from "./document.ts";
import { Fields, hostile, jsonOf, mutated, textOf, type Json } from "./fuzz-json.ts";
import type { Random } from "./fuzz-random.ts";
import { valueOf, type Making } from "./fuzz-schema.ts";
import { HEADER_VALUES, HEADERS, KEYS, NO_JSON, QUERIES, SEGMENTS, TEXTS } from "./fuzz-values.ts";
import type { World } from "./fuzz-world.ts";

/** A request as it goes over the wire. */
export interface Attempt {
  /** The operation that it is meant for: `GET /threads/{thread_id}`. */
  readonly name: string;
  readonly method: string;
  /** With the query, encoded or deliberately not. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Pieces in which the body is sent, without its length. */
  readonly chunks?: number;
}

/** Methods that most paths do not have. */
const METHODS = ["HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];

/** Where a request is not as it should be. */
type Part = "method" | "path" | "query" | "header" | "body" | "bytes";

export class FuzzedOperation {
  readonly name: string;
  readonly #described: Described;
  readonly #making: Making;
  readonly #world: World;

  constructor(name: string, document: ApiDocument, world: World, random: Random) {
    this.name = name;
    this.#described = document.of(name);
    this.#world = world;
    this.#making = { random, known: world.known, resolve: (reference) => document.resolve(reference) };
  }

  /** A request with a fault or two; now and then with none. */
  make(): Attempt {
    const { random } = this.#making;
    const [method = "", template = ""] = this.name.split(" ");
    const hasBody = this.#described.requestBody !== undefined;
    const hasPath = template.includes("{");
    const parts: Part[] = [
      ...(hasBody ? (["body", "body", "body", "body", "bytes"] as const) : []),
      ...(hasPath ? (["path"] as const) : []),
      ...(this.#parameters("query").length > 0 ? (["query", "query"] as const) : ["query" as const]),
      "header",
      ...(random.percent(30) ? (["method"] as const) : []),
    ];
    const faults = new Set<Part>([random.pick(parts)]);
    if (random.percent(20)) faults.add(random.pick(parts));
    if (random.percent(5)) faults.clear();
    const sent = faults.has("method") ? random.pick(METHODS) : method;
    const path = this.#path(sent, template, faults.has("path")) + this.#query(faults.has("query"));
    const headers = this.#headers(faults.has("header"));
    const attempt = { name: this.name, method: sent, path, headers };
    const sends = hasBody || (faults.has("header") && method !== "GET" && random.percent(20));
    if (!sends) return attempt;
    const body = this.#body(faults);
    const type = { "content-type": "application/json", ...headers };
    if (random.percent(10)) return { ...attempt, headers: type, body, chunks: 1 + random.int(5) };
    return { ...attempt, headers: { ...type, "content-length": String(body.length) }, body };
  }

  #parameters(kind: string): NonNullable<Described["parameters"]> {
    return (this.#described.parameters ?? []).filter((parameter) => parameter.in === kind);
  }

  #path(method: string, template: string, wrong: boolean): string {
    const { random } = this.#making;
    // A graph's own assistant stays as it is: the other operations are about it.
    const changes = /^(?:DELETE|PATCH) \/assistants|\/latest$/.test(`${method} ${template}`);
    const places = changes ? this.#world.places.slice(0, 1) : this.#world.places;
    const stops = /^DELETE|\/cancel$/.test(`${method} ${template}`);
    const place = stops && random.percent(30) ? this.#world.waiting : random.pick(places);
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const broken = wrong ? random.pick(names) : undefined;
    return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const good = encodeURIComponent(place[name] ?? "a");
      if (name !== broken) return good;
      const way = random.int(10);
      if (way === 0) return good.toUpperCase();
      if (way === 1) return crypto.randomUUID();
      return random.pick(SEGMENTS);
    });
  }

  #query(wrong: boolean): string {
    const { random } = this.#making;
    const all = this.#parameters("query");
    const chosen = all.filter((each) => each.required === true || random.percent(30));
    const pairs = chosen.map(({ name, schema }): [string, string] => {
      const value = valueOf(schema as Schema, this.#making, name, 1);
      return [name, text(Array.isArray(value) ? (value[0] ?? "") : value)];
    });
    if (!wrong) return written(pairs);
    if (all.length === 0 || random.percent(20)) return random.pick(QUERIES);
    const name = random.pick(all).name;
    const bad = (): string => (random.percent(80) ? random.pick(TEXTS) : text(hostile(random))).slice(0, 1500);
    pairs.push([name, bad()]);
    if (random.percent(25)) pairs.push([name, bad()]);
    if (random.percent(10)) pairs.push([random.pick(KEYS), bad()]);
    return random.percent(85) ? written(pairs) : `?${name}=${random.pick(SEGMENTS)}`;
  }

  #headers(wrong: boolean): Record<string, string> {
    const { random } = this.#making;
    const own = this.#parameters("header").map(({ name }) => name.toLowerCase());
    if (!wrong) return {};
    const name = random.pick([...own, ...own, ...own, ...Object.keys(HEADERS)]);
    return { [name]: random.pick([...(HEADERS[name] ?? []), ...HEADER_VALUES]) };
  }

  #body(faults: ReadonlySet<Part>): Buffer {
    const { random } = this.#making;
    let value = this.#goodBody();
    if (faults.has("body")) value = mutated(value, random);
    hurry(value);
    const bytes = Buffer.from(textOf(value));
    return faults.has("bytes") ? brokenBytes(bytes, random) : bytes;
  }

  #goodBody(): Json {
    const { random, known } = this.#making;
    const content = this.#described.requestBody?.content["application/json"];
    if (content === undefined) return new Fields();
    const messages = known[this.name];
    if (messages !== undefined) return jsonOf(random.pick(messages));
    if (random.percent(10)) return jsonOf(content.example);
    return valueOf(content.schema, this.#making);
  }
}

/** Longest delay that a run may ask for, in seconds (wire-api §3.7). */
const MAX_DELAY = 315_360_000;

/** Shortens delays: one that is allowed is no hang, but nobody can wait for it. */
function hurry(value: Json): void {
  if (Array.isArray(value)) value.forEach(hurry);
  if (!(value instanceof Fields)) return;
  for (const entry of value.entries) {
    const [key, field] = entry;
    const seconds = Number(typeof field === "number" ? field : textOf(field));
    if (key === "after_seconds" && seconds > 0.01 && seconds <= MAX_DELAY) entry[1] = 0.01;
    else hurry(field);
  }
}

const text = (value: Json): string => (typeof value === "string" ? value : textOf(value));

/** Lone surrogates cannot be encoded. */
const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());

const written = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&")}`;

/** What is no JSON any more, or no UTF-8. */
function brokenBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.int(bytes.length + 1);
  const inside = (...more: number[]): Buffer =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(more), bytes.subarray(at)]);
  switch (random.int(9)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return inside(0xff);
    case 2:
      return inside(0xc0, 0x80);
    case 3:
      return inside(0xed, 0xa0, 0x80);
    case 4:
      return inside(0);
    case 5:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 6:
      return Buffer.from(bytes.toString(), "utf16le");
    case 7:
      return Buffer.concat([bytes, bytes]);
    default:
      return Buffer.from(random.pick(NO_JSON));
  }
}
