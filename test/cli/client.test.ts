import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findServer } from "../../src/cli/discover.ts";
import { claimDataDir } from "../../src/storage/instance.ts";
import { closedPort, json, scripted } from "./helpers/http.ts";
import { finish } from "./helpers/io.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "agent-server-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Records a server of this very process in `dataDir`. */
async function record(dataDir: string, url: string): Promise<void> {
  const claim = await claimDataDir(dataDir, { host: "127.0.0.1" });
  claim.update({ port: 1, url });
  onTestFinished(() => claim.release());
}

describe("findServer", () => {
  it("prefers --url, then AGENT_SERVER_URL, then the recorded server, then the default", async () => {
    const cwd = await folder();
    await record(join(cwd, ".agent-server"), "http://127.0.0.1:4001");
    const env = { AGENT_SERVER_URL: "http://env:1/" };
    expect(await findServer({ url: "localhost:5000" }, { cwd, env })).toEqual({
      url: "http://localhost:5000",
      source: "--url",
    });
    expect(await findServer({}, { cwd, env })).toEqual({ url: "http://env:1", source: "AGENT_SERVER_URL" });
    expect(await findServer({}, { cwd, env: {} })).toEqual({ url: "http://127.0.0.1:4001", source: "state" });
    expect(await findServer({}, { cwd: await folder(), env: {} })).toEqual({
      url: "http://localhost:2024",
      source: "default",
    });
  });

  it("keeps the path of an address", async () => {
    expect((await findServer({ url: "https://host/api/" }, { cwd: "/", env: {} })).url).toBe("https://host/api");
  });

  it("finds the server of the project above", async () => {
    const cwd = await folder();
    await mkdir(join(cwd, "src", "deep"), { recursive: true });
    await writeFile(join(cwd, "langgraph.yaml"), "graphs: {}");
    await record(join(cwd, ".agent-server"), "http://127.0.0.1:4002");
    expect((await findServer({}, { cwd: join(cwd, "src", "deep"), env: {} })).url).toBe("http://127.0.0.1:4002");
  });

  it("follows --data-dir, relative to the current folder", async () => {
    const cwd = await folder();
    await record(join(cwd, "elsewhere"), "http://127.0.0.1:4003");
    expect((await findServer({ dataDir: "elsewhere" }, { cwd, env: {} })).url).toBe("http://127.0.0.1:4003");
  });

  it("does not believe a record that points to another machine", async () => {
    const cwd = await folder();
    await record(join(cwd, ".agent-server"), "http://collector.example.com");
    expect((await findServer({}, { cwd, env: {} })).source).toBe("default");
  });
});

describe("talking to a server", () => {
  it("nobody there: exit 3, the address and how to start one", async () => {
    const url = await closedPort();
    const { code, stdout, stderr } = await finish(["threads", "ls", "--url", url]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toBe(`error: No server at ${url} (from --url).\nStart one in your project with: agent-server dev\n`);
  });

  it.each([
    ["invoke", "hello"],
    ["stream", "t"],
    ["threads", "get", "t"],
    ["threads", "state", "t"],
  ])("%s %s exits 3, too", async (...args) => {
    const env = { AGENT_SERVER_URL: await closedPort() };
    const { code, stderr } = await finish(args, { env });
    expect(code).toBe(3);
    expect(stderr).toContain(`No server at ${env.AGENT_SERVER_URL} (from AGENT_SERVER_URL).`);
  });

  it("an error of the API is one sentence and exit 1", async () => {
    const { url } = await scripted({
      "GET /threads/t": (response) => json(response, { detail: "Thread with ID \u001b[31mt not found" }, 404),
    });
    expect(await finish(["threads", "get", "t", "--url", url])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "error: Thread with ID ␛[31mt not found (HTTP 404)\n",
    });
  });

  it("asks once, also when the server has trouble", async () => {
    const { url, received } = await scripted({
      "GET /threads/t": (response) => json(response, { detail: "Too busy" }, 503),
    });
    expect((await finish(["threads", "get", "t", "--url", url])).code).toBe(1);
    expect(received).toHaveLength(1);
  });

  it("a program that is no agent server is recognised", async () => {
    const { url } = await scripted({
      "GET /threads/t": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>hi</h1>"),
      "GET /threads/u": (response) => response.writeHead(502).end("<h1>bad gateway</h1>"),
    });
    const html = await finish(["threads", "get", "t", "--url", url]);
    expect(html.code).toBe(1);
    expect(html.stderr).toContain("answers, but not like an agent server");
    expect((await finish(["threads", "get", "u", "--url", url])).stderr).toContain("Bad Gateway (HTTP 502)");
  });

  it.each([
    [{ AGENT_SERVER_API_KEY: "one", LANGSMITH_API_KEY: "three" }, "one", "Bearer one"],
    [{ LANGGRAPH_API_KEY: "two", LANGSMITH_API_KEY: "three" }, "two", undefined],
    [{ LANGSMITH_API_KEY: "three" }, "three", undefined],
    [{}, undefined, undefined],
  ])("sends the key of %j", async (env, key, authorization) => {
    const { url, received } = await scripted({ "POST /threads/search": (response) => json(response, []) });
    expect((await finish(["threads", "ls", "--url", url], { env })).code).toBe(0);
    expect(received[0]?.headers["x-api-key"]).toBe(key);
    expect(received[0]?.headers["authorization"]).toBe(authorization);
  });

  it("says what to do about a refused key", async () => {
    const { url } = await scripted({ "POST /threads/search": (response) => json(response, { detail: "No." }, 401) });
    expect((await finish(["threads", "ls", "--url", url])).stderr).toBe(
      "error: No (HTTP 401)\nSet AGENT_SERVER_API_KEY to a key that this server accepts.\n",
    );
  });

  it("an error that nobody foresaw says that it is a bug, with the stack on request", async () => {
    const { url } = await scripted({ "POST /threads/search": (response) => json(response, { not: "a list" }) });
    const quiet = await finish(["threads", "ls", "--url", url], { tty: true, env: { NO_COLOR: "1" } });
    expect(quiet.code).toBe(1);
    expect(quiet.stderr).toMatch(/^error: TypeError: .*\nThis is a bug in agent-server\./);
    expect(quiet.stderr).not.toContain("show.js");
    const loud = await finish(["threads", "ls", "--url", url], {
      tty: true,
      env: { NO_COLOR: "1", AGENT_SERVER_DEBUG: "1" },
    });
    expect(loud.stderr).toContain("show.js");
  });
});
