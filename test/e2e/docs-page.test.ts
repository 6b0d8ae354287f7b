// The page at /docs: what is served, and in headless Chromium that it shows the API, tries it, and talks to this server only.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, describe, expect, test, type TestContext } from "vitest";
import { call } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const CHROMIUM = "/usr/bin/chromium";
const SCREENSHOT = join(tmpdir(), "agent-server-docs.png");

const server = useServer({ persist: false });
const scriptPath = async (): Promise<string> => {
  const [, src = ""] = /<script src="([^"]+)"/.exec((await call(server.url, "GET", "/docs")).text) ?? [];
  return new URL(src, `${server.url}/docs`).href.slice(server.url.length);
};

describe("what is served", () => {
  test("a small page that names no other server and is allowed none", async () => {
    const { status, headers, text } = await call(server.url, "GET", "/docs");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(text.length).toBeLessThan(2000);
    expect(text).not.toMatch(/https?:|\/\/[a-z]/);
    const policy = headers["content-security-policy"] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  test("the script, compressed or not, which a browser may keep for ever", async () => {
    const path = await scriptPath();
    const packed = await fetch(`${server.url}${path}`, { headers: { "accept-encoding": "gzip" } });
    const plain = await call(server.url, "GET", path);
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(plain.headers["cache-control"]).toContain("immutable");
    // Node has unpacked what was packed.
    expect(await packed.text()).toBe(plain.text);
    expect(plain.text).toContain("MIT License; Copyright (c) 2023-present Scalar");
    const known = await call(server.url, "GET", path, { headers: { "if-none-match": plain.headers.etag! } });
    expect([known.status, known.text, known.headers.etag]).toEqual([304, "", plain.headers.etag]);
  });

  test("the same with a slash at the end, where addresses count from elsewhere", async () => {
    const addresses = async (path: string): Promise<string[]> => {
      const { text } = await call(server.url, "GET", path);
      const settings = /data-configuration="([^"]+)"/.exec(text)![1]!.replaceAll("&quot;", '"');
      const relative = [/<script src="([^"]+)"/.exec(text)![1]!, (JSON.parse(settings) as { url: string }).url];
      return relative.map((address) => new URL(address, `${server.url}${path}`).pathname);
    };
    expect(await addresses("/docs")).toEqual(["/docs/scalar.js", "/openapi.json"]);
    expect(await addresses("/docs/")).toEqual(["/docs/scalar.js", "/openapi.json"]);
  });

  test("nothing else", async () => {
    expect(await call(server.url, "GET", "/docs/other.js")).toMatchObject({
      status: 404,
      json: { detail: expect.stringContaining("other.js") },
    });
  });
});

describe("in Chromium", () => {
  let browser: Browser | undefined;
  afterAll(() => browser?.close());

  /** A page that tells what it asked for and what it was refused. */
  async function openDocs(
    context: TestContext,
    hash = "",
  ): Promise<{ page: Page; asked: string[]; refused: string[] }> {
    if (!existsSync(CHROMIUM) && process.env["AGENT_SERVER_REQUIRE_CHROMIUM"] !== "1")
      context.skip(`there is no ${CHROMIUM}`);
    browser ??= await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    const pages = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
    context.onTestFinished(() => pages.close());
    const asked: string[] = [];
    const refused: string[] = [];
    pages.on("request", (request) => asked.push(request.url()));
    pages.on("console", (message) => {
      if (message.type() === "error") refused.push(message.text());
    });
    const page = await pages.newPage();
    page.on("pageerror", (error) => refused.push(error.message));
    await page.goto(`${server.url}/docs${hash}`);
    return { page, asked, refused };
  }

  /** Sends the example request of an operation from the page. */
  async function tryIt(page: Page, operation: RegExp): Promise<void> {
    await page.getByRole("button", { name: operation }).click();
    await page.getByRole("button", { name: "Send" }).first().click();
    await page.getByText("200 OK").waitFor();
  }

  /** What does not go to this server; what the page makes itself goes nowhere. */
  const elsewhere = (asked: readonly string[]): string[] =>
    asked.filter((url) => !url.startsWith(`${server.url}/`) && !/^(?:data|blob):/.test(url));

  test("it tries a run of the first graph and shows the answer", { timeout: 120_000 }, async (context) => {
    const { page, asked, refused } = await openDocs(context, "#tag/stateless-runs/POST/runs/wait");
    await tryIt(page, /Test Request.*post \/runs\/wait/);
    await page.getByText("You said: Hello").waitFor();
    await page.screenshot({ path: SCREENSHOT, animations: "disabled" });
    console.log(`screenshot: ${SCREENSHOT}`);

    expect(asked).toContain(`${server.url}/openapi.json`);
    expect(asked.at(-1)).toBe(`${server.url}/runs/wait`);
    expect(elsewhere(asked)).toEqual([]);
    expect(refused).toEqual([]);
  });

  test(
    "it shows all groups, streams, searches and turns dark, and asks nobody else",
    { timeout: 120_000 },
    async (context) => {
      const { page, asked, refused } = await openDocs(context, "#tag/stateless-runs/POST/runs/stream");
      await tryIt(page, /Test Request.*post \/runs\/stream/);
      await page.getByText("event: metadata").waitFor();
      await page.keyboard.press("Escape");

      const { json } = await call(server.url, "GET", "/openapi.json");
      const names = (json as { tags: { name: string }[] }).tags.map(({ name }) => name);
      expect(names).toContain("Thread runs");
      const link = (name: string) => page.locator(`a[href="#tag/${name.toLowerCase().replaceAll(" ", "-")}"]`);
      await Promise.all(names.map((name) => link(name).waitFor()));
      await link("Store").click();
      await page.getByRole("heading", { name: "Store", exact: true }).waitFor();
      await page.getByRole("button", { name: /Open Search/ }).click();
      await page
        .getByPlaceholder(/search/i)
        .last()
        .fill("history");
      await page.getByText("/threads/{thread_id}/history").last().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /dark mode/i }).click();
      await page.locator("body.dark-mode").waitFor();

      expect(elsewhere(asked)).toEqual([]);
      expect(refused).toEqual([]);
    },
  );
});
