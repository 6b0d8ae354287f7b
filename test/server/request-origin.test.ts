// Under which address a client reached the server.
import { expect, it } from "vitest";
import { requestOrigin } from "../../src/server/request-origin.ts";

const seen = (headers: Record<string, string>): string =>
  requestOrigin(new Headers(headers), new URL("http://127.0.0.1:2024/x?y"));

it.each<[string, Record<string, string>, string]>([
  ["nothing", {}, "http://127.0.0.1:2024"],
  ["the host that was asked", { host: "localhost:3000" }, "http://localhost:3000"],
  [
    "a proxy",
    { host: "inner", "x-forwarded-proto": "https", "x-forwarded-host": "agents.example.com" },
    "https://agents.example.com",
  ],
  [
    "a chain of proxies",
    { "x-forwarded-proto": "HTTPS, http", "x-forwarded-host": "a.example.com:8443, b" },
    "https://a.example.com:8443",
  ],
  ["IPv6", { host: "[::1]:2024" }, "http://[::1]:2024"],
  ["another protocol", { host: "a", "x-forwarded-proto": "javascript" }, "http://a"],
  ["a path in a host", { host: "a", "x-forwarded-host": "evil.com/path" }, "http://a"],
  ["a name and password in a host", { host: "a", "x-forwarded-host": "me:pw@evil.com" }, "http://a"],
  ["markup in both", { host: '"><b>', "x-forwarded-host": "<b>" }, "http://127.0.0.1:2024"],
])("%s", (_, headers, expected) => {
  expect(seen(headers)).toBe(expected);
});
