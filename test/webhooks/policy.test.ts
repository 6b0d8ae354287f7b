// Where webhooks may be sent: every rule of the policy, in every spelling that leads to this machine.
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { isLoopbackAddress, isLoopbackHost, isOwnAddress, isOwnHost } from "../../src/webhooks/addresses.ts";
import { checkDestination, refusal, shownUrl } from "../../src/webhooks/policy.ts";

const open = { requireHttps: false, disableLoopback: false };
const closed = { ...open, disableLoopback: true };

describe("without rules", () => {
  test.each([
    "https://example.com/hook?token=secret",
    "http://example.com:8080/",
    "http://localhost:3000/",
    "http://127.0.0.1/",
    "/my-app/hook",
    "http://user:password@example.com/",
  ])("%s is accepted", (url) => {
    expect(refusal(url, open)).toBeUndefined();
  });

  test.each([
    ["", "empty"],
    ["example.com/hook", "neither a URL nor a path"],
    ["ftp://example.com/", "must begin with http:// or https://, not ftp:"],
    ["file:///etc/passwd", "must begin with http:// or https://, not file:"],
    ["javascript:alert(1)", "must begin with http:// or https://"],
    ["//example.com/hook", "neither a URL nor a path"],
    ["/\\example.com/hook", "neither a URL nor a path"],
    ["http://", "neither a URL nor a path"],
    [`http://example.com/${"x".repeat(65_536)}`, "longer than 65536 characters"],
  ])("%s is refused", (url, reason) => {
    expect(refusal(url, open)).toContain(reason);
  });
});

describe("allowed_domains", () => {
  const policy = { ...open, allowedDomains: ["hooks.example.com", "*.internal.example", "MÜNCHEN.example"] };

  test.each([
    "https://hooks.example.com/x",
    "https://HOOKS.example.com./x",
    "https://a.internal.example/",
    "https://a.b.internal.example/",
    "https://xn--mnchen-3ya.example/",
  ])("%s is accepted", (url) => {
    expect(refusal(url, policy)).toBeUndefined();
  });

  test.each([
    "https://example.com/",
    "https://internal.example/",
    "https://evilinternal.example/",
    "https://hooks.example.com.evil.example/",
    "https://hooks.example.com@evil.example/",
    "http://localhost/",
  ])("%s is refused", (url) => {
    expect(refusal(url, policy)).toContain("webhooks.url.allowed_domains");
  });
});

test("require_https", () => {
  const policy = { ...open, requireHttps: true };
  expect(refusal("https://example.com/", policy)).toBeUndefined();
  expect(refusal("http://example.com/", policy)).toContain("webhooks.url.require_https");
  expect(refusal("/inside", policy)).toBeUndefined();
});

test("allowed_ports; a URL without a port has that of its scheme", () => {
  const policy = { ...open, allowedPorts: [443, 8443] };
  expect(refusal("https://example.com/", policy)).toBeUndefined();
  expect(refusal("https://example.com:8443/", policy)).toBeUndefined();
  expect(refusal("http://example.com:443/", policy)).toBeUndefined();
  expect(refusal("http://example.com/", policy)).toContain("port 80, which is not in webhooks.url.allowed_ports");
  expect(refusal("https://example.com:444/", policy)).toContain("port 444");
});

test("max_url_length", () => {
  const policy = { ...open, maxUrlLength: 20 };
  expect(refusal("http://example.com/a", policy)).toBeUndefined();
  expect(refusal("http://example.com/ab", policy)).toContain("longer than 20 characters (webhooks.url.max_url_length)");
});

describe("disable_loopback", () => {
  test.each([
    "/relative",
    "http://localhost/",
    "http://LOCALHOST:3000/",
    "http://localhost./",
    "http://app.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://0/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://①②⑦.0.0.1/",
    "http://host.docker.internal/",
    "http://user@localhost/",
  ])("%s is refused", (url) => {
    expect(refusal(url, closed)).toContain("webhooks.url.disable_loopback");
  });

  test.each([
    "http://example.com/",
    "http://128.0.0.1/",
    "http://10.0.0.1/",
    "http://[2001:db8::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://localhost.example.com/",
    "http://notlocalhost/",
  ])("%s is accepted", (url) => {
    expect(refusal(url, closed)).toBeUndefined();
  });

  test("names that lead to this machine are refused, those that lead nowhere are not", async () => {
    const lookup = async (name: string): Promise<string[]> => {
      if (name === "inside.example") return ["10.0.0.1", "127.0.0.1"];
      if (name === "inside6.example") return ["::1"];
      if (name === "outside.example") return ["192.0.2.1"];
      throw new Error("ENOTFOUND");
    };
    expect(await checkDestination("http://inside.example/", closed, lookup)).toContain("disable_loopback");
    expect(await checkDestination("http://inside6.example/", closed, lookup)).toContain("disable_loopback");
    expect(await checkDestination("http://outside.example/", closed, lookup)).toBeUndefined();
    expect(await checkDestination("http://nowhere.example/", closed, lookup)).toBeUndefined();
    expect(await checkDestination("http://inside.example/", open, lookup)).toBeUndefined();
  });
});

test("a redirect is held to the same rules, wherever it points", () => {
  const base = "https://hooks.example.com/first";
  expect(refusal("/next", closed, base)).toBeUndefined();
  expect(refusal("http://127.0.0.1/", closed, base)).toContain("disable_loopback");
  expect(refusal("//evil.example/", { ...open, allowedDomains: ["hooks.example.com"] }, base)).toContain(
    "evil.example",
  );
  expect(refusal("http://hooks.example.com/", { ...open, requireHttps: true }, base)).toContain("require_https");
});

test("a URL is shown without user, password and query, in every spelling that is accepted", () => {
  const spellings = [
    "http://a:se@cret@h/x",
    "http:/user:cret@h/x",
    "http:user:cret@h/x",
    "http:\\\\user:cret@h/x",
    " http://u:cret@h/x",
    "http://h/x?t=cret#cret",
    "/x?t=cret",
  ];
  for (const url of spellings) expect([url, shownUrl(url)]).toEqual([url, expect.not.stringContaining("cret")]);
  expect(shownUrl("http://user:pa55@h:81/x?y")).toBe("http://h:81/x");
});

test("addresses and names of this machine", () => {
  expect(["127.9.9.9", "::1", "0.0.0.0", "::ffff:127.0.0.1", "::ffff:7f00:1"].map(isLoopbackAddress)).not.toContain(
    false,
  );
  expect(["10.0.0.1", "fe80::1", "example.com", "", "1::2:3"].map(isLoopbackAddress)).not.toContain(true);
  expect(isLoopbackHost("localhost")).toBe(true);
  expect(isLoopbackHost("example.com")).toBe(false);
});

test("addresses that a network has given to this machine are this machine, and those of others are not", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  for (const { address, family } of own) {
    const host = family === "IPv6" ? `[${address}]` : address;
    expect([address, isOwnAddress(address), isOwnHost(host)]).toEqual([address, true, true]);
    if (family === "IPv4") expect(isOwnAddress(`::ffff:${address}`)).toBe(true);
    if (family === "IPv4" || !address.startsWith("fe80"))
      expect(refusal(`http://${host}:81/`, { requireHttps: false, disableLoopback: true })).toMatch(
        /leads to this machine/,
      );
  }
  for (const address of ["203.0.113.1", "2001:db8::1", "example.com", ""])
    expect([address, isOwnAddress(address), isOwnHost(address)]).toEqual([address, false, false]);
});
