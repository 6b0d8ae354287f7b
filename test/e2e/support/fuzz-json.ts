// JSON as an attacker writes it: what JSON.stringify would not write (keys that come twice, numbers beyond all limits, ten thousand levels),
// and the values that programs stumble over.
import type { Random } from "./fuzz-random.ts";

/** Text that goes into the body as it stands. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object as a list, so that a key may come twice and `__proto__` is a key like any other. */
export class Fields {
  readonly entries: [key: string, value: Json][];
  constructor(entries: [string, Json][] = []) {
    this.entries = entries;
  }
}

/** A JSON value that is being made. */
export type Json = string | number | boolean | null | Raw | Fields | Json[];

/** Makes one of a value that JSON.stringify can write. */
export function jsonOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === "object" && value !== null)
    return new Fields(Object.entries(value).map(([key, field]) => [key, jsonOf(field)]));
  return (value ?? null) as Json;
}

/** The text of a value. */
export function textOf(value: Json): string {
  if (value instanceof Raw) return value.text;
  if (value instanceof Fields)
    return `{${value.entries.map(([key, field]) => `${JSON.stringify(key)}:${textOf(field)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  return JSON.stringify(value);
}

const LEVELS = 10_000;
/** Within what is allowed; the rest of a body needs some too. */
const ALLOWED_LEVELS = 900;
const MANY = 10_000;
const LONG = 100_000;

const nested = (open: string, inside: string, close: string, levels = LEVELS): Raw =>
  new Raw(open.repeat(levels) + inside + close.repeat(levels));

/** Texts that are something else to whoever is not careful. */
export const TEXTS: readonly string[] = [
  ...["", " ", "\n", "\u0000", "a\u0000b", "\u2028", "\u{fffe}", "\ud800", "\udfff\ud800", "\u202etxt.exe\u202c", "e\u0301"],
  ...["\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}", "\u{1f600}".repeat(1000), "x".repeat(LONG), "\u{1f9e8}".repeat(300)],
  ...["null", "undefined", "NaN", "Infinity", "-Infinity", "-1", "0", "1e308", "0x10", "true", "[]", "{}", "[object Object]"],
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__start__", "__end__", "__error__", "__interrupt__"],
  ...["../../../../etc/passwd", "..\\..\\windows", "%2e%2e%2f", "file:///etc/passwd", "/dev/zero", "C:\\", "~", ".", ".."],
  ...["a.b.c", "a|b", "a:b", "*", "$", "$[*]", "[0]", "a[", "a..b", "values[-1]", "(a+)+$", "%s%n", "${7*7}", "{{7*7}}"],
  ...["'; DROP TABLE threads; --", "<script>alert(1)</script>", "\r\nX-Injected: 1", '"', "\\", "\\u0000", "`id`"],
  ...["http://", "http://[::1", "//", "javascript:alert(1)", "http://127.0.0.1:1/", "http://a b/", "ftp://127.0.0.1/", "?", "#"],
  ...["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF", "{00000000-0000-0000-0000-000000000000}"],
  ...["2026-02-30T25:61:61Z", "+275760-09-13T00:00:00.001Z", "1970-01-01", "P1Y", "* * * *", "60 24 32 13 8", "*/0 * * * *"],
  ...["0 0 31 2 *", "Mars/Phobos", "../UTC", "-1-", "1-", "1-0", "999999999999999999999-1"],
];

/** Numbers that some code takes for smaller, whole, or positive. */
const NUMBERS: readonly Json[] = [
  ...[0, -1, 1, 0.5, -0.5, 1.5, 1001, 65_536, 2_147_483_648, -2_147_483_649, 4_294_967_296, 8.64e15 + 1],
  ...["-0", "1e308", "-1e308", "1e999", "-1e999", "5e-324", "1e21", "9007199254740993", "-9007199254740993", "0.1e-6"].map(
    (text) => new Raw(text),
  ),
  new Raw("9".repeat(400)),
];

/** Keys that objects have already, or that other programs give a meaning to. */
export const KEYS: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "valueOf", "toJSON", "then", "hasOwnProperty", "length"],
  ...["", " ", "a.b", "a[0]", "\u0000", "\ud800", "lc", "$ref", "__pregel_read", "k".repeat(1000)],
];

const POLLUTION = '{"polluted":"by the fuzz test"}';

/** Objects and lists that mean something, or are too much of something. */
const STRUCTURES: readonly Json[] = [
  ...["{}", "[]", "[null]", "[[]]", "[{}]", '{"":""}', "null", "true", "false", '[["a","b","c"]]', '["a",1]'].map(
    (text) => new Raw(text),
  ),
  ...[
    `{"__proto__":${POLLUTION}}`,
    `{"constructor":{"prototype":${POLLUTION}}}`,
    `{"a":{"__proto__":${POLLUTION}},"__proto__":null}`,
    '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
    '{"toJSON":"x","then":"y","length":-1}',
    '{"length":4294967295,"0":"a"}',
    '{"a":1,"a":2}',
    '{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}}',
    '{"lc":1,"type":"constructor","id":["fs","readFileSync"],"kwargs":{"path":"/etc/passwd"}}',
    '{"lc":1,"type":"secret","id":["PATH"]}',
    '{"lc":2,"type":"undefined","id":["__proto__"]}',
    '{"lg_name":"Send","node":"__start__","args":{}}',
    '{"type":"remove","id":"__remove_all__"}',
    '[{"role":"user"}]',
    '[{"type":"human","content":{"a":1}}]',
    '[{"role":"__proto__","content":[{"type":"text"}]}]',
    '{"$eq":1,"$gt":{},"$nope":[]}',
    '{"$gte":null}',
  ].map((text) => new Raw(text)),
  nested("[", "", "]"),
  nested('{"a":', "1", "}"),
  nested('{"a":[', "null", "]}", LEVELS / 2),
  nested('{"a":', "1", "}", ALLOWED_LEVELS),
  nested("[", "", "]", ALLOWED_LEVELS),
  new Raw(`[${"0,".repeat(MANY)}0]`),
  new Raw(`[${"{},".repeat(MANY)}{}]`),
  new Raw(`[${'"",'.repeat(MANY)}""]`),
  new Raw(`{${Array.from({ length: MANY }, (_, index) => `"k${index}":${index}`).join(",")}}`),
];

/** What is no JSON at all. */
export const NO_JSON: readonly string[] = [
  ...["{", "}", "[", "nonsense", "NaN", "Infinity", "undefined", "'a'", "{'a':1}", '{"a":1,}', "[1,]", '{"a" 1}', '"', "01"],
  ...["+1", ".5", "1.", "0x10", "{}{}", "{}\u0000", "\u0000", "// {}\n{}", '"\u0001"', "\ufeff{}", '{"a":"\\x41"}', "tru"],
  "[".repeat(LEVELS),
  '{"a":'.repeat(LEVELS),
];

/** A value that nobody expects. */
export function hostile(random: Random): Json {
  const kind = random.int(10);
  if (kind < 4) return random.pick(TEXTS);
  if (kind < 6) return random.pick(NUMBERS);
  return random.pick(STRUCTURES);
}

/** A place in a value: the value that is there, and what changes it. */
interface Place {
  readonly value: Json;
  replace(value: Json): void;
  remove(): void;
}

function placesIn(value: Json): Place[] {
  if (value instanceof Fields) {
    return value.entries.flatMap((entry) => {
      const place: Place = {
        value: entry[1],
        replace: (next) => void (entry[1] = next),
        remove: () => void value.entries.splice(value.entries.indexOf(entry), 1),
      };
      return [place, ...placesIn(entry[1])];
    });
  }
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => {
    const place: Place = {
      value: item,
      replace: (next) => void (value[index] = next),
      remove: () => void value.splice(index, 1),
    };
    return [place, ...placesIn(item)];
  });
}

/** Changes a value in one place. @returns the changed value, which is another one when all of it was replaced. */
export function mutated(value: Json, random: Random): Json {
  const places = placesIn(value);
  const objects = [value, ...places.map((place) => place.value)].filter((each) => each instanceof Fields);
  const way = random.int(100);
  if (way < 20 && objects.length > 0) {
    const { entries } = random.pick(objects);
    const again = entries.length > 0 && random.percent(40);
    entries.push([again ? random.pick(entries)[0] : random.pick(KEYS), hostile(random)]);
    return value;
  }
  if (places.length === 0 || way < 28) return hostile(random);
  const place = random.pick(places);
  if (way < 38) place.remove();
  else if (way < 44) place.replace(null);
  else if (way < 50) place.replace([place.value]);
  else place.replace(hostile(random));
  return value;
}
