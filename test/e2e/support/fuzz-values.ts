// What programs stumble over: texts, numbers, keys, objects, pieces of paths, queries, headers, and what is no JSON at all.

const LEVELS = 10_000;
/** Within what is allowed; the rest of a body needs some too. */
const ALLOWED_LEVELS = 900;
const MANY = 10_000;
const LONG = 100_000;
/** Longest path that Node itself lets pass with room for headers. */
const MAX_PATH = 8000;

const words = (list: string): string[] => list.split(" ");

/** Texts that are something else to whoever is not careful. */
export const TEXTS: readonly string[] = [
  "",
  " ",
  "\n",
  "\r\nX-Injected: 1",
  "\u0000",
  "a\u0000b",
  "\u2028",
  "\ufffe",
  "\ud800",
  "\udfff\ud800",
  "\u202etxt.exe\u202c",
  "e\u0301",
  "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}",
  "\u{1f9e8}".repeat(300),
  "x".repeat(LONG),
  ...words("null undefined NaN Infinity -Infinity -1 0 1e308 0x10 true [] {} __proto__ constructor prototype toString"),
  ...words("hasOwnProperty __start__ __end__ __error__ __interrupt__ ../../../../etc/passwd ..\\..\\windows %2e%2e%2f"),
  ...words("file:///etc/passwd /dev/zero C:\\ ~ . .. a.b.c a|b a:b * $ $[*] [0] a[ a..b values[-1] (a+)+$ %s%n ${7*7}"),
  ...words(
    '<script>alert(1)</script> " \\ \\u0000 `id` http:// http://[::1 // javascript:alert(1) ftp://127.0.0.1/ ? #',
  ),
  ...words("http://127.0.0.1:1/ 00000000-0000-0000-0000-000000000000 FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF 1-0 -1- 1-"),
  ...words("2026-02-30T25:61:61Z +275760-09-13T00:00:00.001Z 1970-01-01 P1Y Mars/Phobos ../UTC 99999999999999999999-1"),
  "[object Object]",
  "'; DROP TABLE threads; --",
  "http://a b/",
  "* * * *",
  "60 24 32 13 8",
  "*/0 * * * *",
  "0 0 31 2 *",
];

/** JSON of numbers that some code takes for smaller, whole, or positive. */
export const NUMBERS: readonly string[] = [
  ...words(
    "0 -0 -1 1 0.5 -0.5 1.5 1001 65536 2147483648 -2147483649 4294967296 8640000000000001 1e308 -1e308 1e999 -1e999",
  ),
  ...words("5e-324 1e21 0.1e-6 9007199254740993 -9007199254740993"),
  "9".repeat(400),
];

/** Keys that objects have already, or that other programs give a meaning to. */
export const KEYS: readonly string[] = [
  ...words(
    "__proto__ constructor prototype toString valueOf toJSON then hasOwnProperty length a.b a[0] lc $ref __pregel_read",
  ),
  "",
  " ",
  "\u0000",
  "\ud800",
  "k".repeat(1000),
];

const POLLUTION = '{"polluted":"by the fuzz test"}';
const nested = (open: string, inside: string, close: string, levels = LEVELS): string =>
  open.repeat(levels) + inside + close.repeat(levels);

/** JSON of what means something, or is too much of something. */
export const STRUCTURES: readonly string[] = [
  ...words('null true false {} [] [null] [[]] [{}] {"":""} [["a","b","c"]] ["a",1] {"a":1,"a":2}'),
  `{"__proto__":${POLLUTION}}`,
  `{"constructor":{"prototype":${POLLUTION}}}`,
  `{"a":{"__proto__":${POLLUTION}},"__proto__":null}`,
  '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
  '{"toJSON":"x","then":"y","length":-1}',
  '{"length":4294967295,"0":"a"}',
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
  nested("[", "", "]"),
  nested('{"a":', "1", "}"),
  nested('{"a":[', "null", "]}", LEVELS / 2),
  nested('{"a":', "1", "}", ALLOWED_LEVELS),
  nested("[", "", "]", ALLOWED_LEVELS),
  `[${"0,".repeat(MANY)}0]`,
  `[${"{},".repeat(MANY)}{}]`,
  `[${'"",'.repeat(MANY)}""]`,
  `{${Array.from({ length: MANY }, (_, index) => `"k${index}":${index}`).join(",")}}`,
];

/** What is no JSON. */
export const NO_JSON: readonly string[] = [
  ...words(
    '{ } [ " tru nonsense NaN Infinity undefined \'a\' {\'a\':1} {"a":1,} [1,] {"a"1} 01 +1 .5 1. 0x10 {}{} {}\u0000',
  ),
  "\u0000",
  "// {}\n{}",
  '"\u0001"',
  '{"a":"\\x41"}',
  "[".repeat(LEVELS),
  '{"a":'.repeat(LEVELS),
];

/** Pieces of a path that are not what they should be; they are not encoded again. */
export const SEGMENTS: readonly string[] = [
  ...words(". .. %2e%2e%2f%2e%2e%2fetc%2fpasswd ..%2f %2f %5c % %% %u0041 %zz %00 a%00b %ff %fe%ff %e0%a4%a %ed%a0%80"),
  ...words(
    "%c0%ae%c0%ae \u00e9 %e2%80%ae %f0%9f%98%80 %0d%0aX-Injected:%201 null undefined NaN -1 0 1e308 * ~ @ a;b=c a+b",
  ),
  ...words("a%20b %22 {thread_id} :thread_id __proto__ constructor toString search count batch crons nothing"),
  ...words("00000000-0000-0000-0000-000000000000 ffffffff-ffff-4fff-bfff-ffffffffffff"),
  "",
  "x".repeat(MAX_PATH),
  "%41".repeat(MAX_PATH / 4),
];

/** Whole queries. */
export const QUERIES: readonly string[] = [
  ...words("? ?&&& ?= ?% ?%ff=%ff ?a=% ?a ?a[]=1 ?a[b]=1 ?__proto__=1 ?constructor=1&toString=2 ?# ?? ?\u00e9=\u00e9"),
  `?${"a=b&".repeat(MAX_PATH / 8)}`,
  `?a=${"x".repeat(MAX_PATH)}`,
  `?${"x".repeat(MAX_PATH)}`,
];

/** Values for any header. */
export const HEADER_VALUES: readonly string[] = [
  ...words('-1 - 0 5 1e308 99999999999999999999 NaN * "a" a,b \u00e9\u00ff'),
  "",
  " ",
  "x".repeat(LONG / 25),
];

/** Headers that may make a difference, with values of their own. */
export const HEADERS: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/xml",
    "multipart/form-data",
    "a/b; charset=utf-16",
    ";",
  ],
  accept: ["text/html", "text/event-stream", "application/json", "*/*;q=0", ","],
  "accept-encoding": ["gzip", "gzip;q=0", "br, deflate"],
  "content-encoding": ["gzip", "br", "identity", "a, b"],
  "idempotency-key": ["a", "b", "x".repeat(255), "x".repeat(256)],
  "last-event-id": ["1", "1.5", "a", "1700000000000-0", "0-", "-0"],
  prefer: ["return=minimal", "return=representation", 'return="minimal"', "return", ",,;=", "respond-async, wait=10"],
  "if-none-match": ['W/"a"', ","],
  "mcp-protocol-version": ["2025-06-18", "1999-01-01"],
  "x-api-key": ["a"],
  "x-forwarded-host": ["evil.example"],
  "x-http-method-override": ["DELETE"],
  "x-fuzz": ["__proto__"],
  range: ["bytes=0-1", "bytes=-1"],
  cookie: ["a=b; ".repeat(100)],
  origin: ["null", "http://evil.example", "http://localhost:3000"],
  authorization: ["Bearer a", "Basic !!!"],
  expect: ["100-continue", "nonsense"],
  connection: ["close", "keep-alive, x-fuzz"],
  te: ["trailers"],
};
