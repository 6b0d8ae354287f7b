import type { ServerResponse } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
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

  it("says that no server runs on the folder of --data-dir: exit 3, whatever else is set", async () => {
    const cwd = await folder();
    const env = { AGENT_SERVER_URL: "http://env:1/" };
    const { code, stderr } = await finish(["threads", "ls", "--data-dir", "no such"], { cwd, env });
    expect(code).toBe(3);
    expect(stderr).toBe(
      `error: No server runs on ${join(cwd, "no such")}.\nStart one in your project with: agent-server dev --data-dir 'no such'\n`,
    );
    await record(join(cwd, "elsewhere"), "http://127.0.0.1:4003");
    expect((await findServer({ dataDir: "elsewhere" }, { cwd, env })).source).toBe("state");
    const both = await finish(["threads", "ls", "--data-dir", "x", "--url", "localhost:1"], { cwd });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be used with") as string });
  });

  it.each([
    ["http://ada:secret@host", "--url has a user name or a password."],
    ["ada:secret@host", "--url has a user name or a password."],
    ["http://ada:secret@", "--url is not a web address: http://…@"],
    ["http://host/?key=x", "--url has something behind the path: http://host/?key=x"],
    ["http://host/#", "--url has something behind the path: http://host/#"],
  ])("refuses --url %s", async (url, message) => {
    const { code, stderr } = await finish(["threads", "ls", "--url", url]);
    expect(code).toBe(2);
    expect(stderr.split("\n")[0]).toBe(`error: ${message}`);
    expect(stderr).not.toContain("secret");
  });

  it("does not believe a record that points to another machine", async () => {
    for (const host of ["collector.example.com", "127.collector.example.com", "127.0.0.1.example.com", "203.0.113.1"]) {
      const cwd = await folder();
      await record(join(cwd, ".agent-server"), `http://${host}`);
      expect([host, (await findServer({}, { cwd, env: {} })).source]).toEqual([host, "default"]);
    }
  });

  it("believes a record of every address of this machine", async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const hosts = own.filter(({ family }) => family === "IPv4").map(({ address }) => address);
    for (const host of ["localhost", "127.1.2.3", "[::1]", "0.0.0.0", ...hosts]) {
      const cwd = await folder();
      await record(join(cwd, ".agent-server"), `http://${host}:4001`);
      expect(await findServer({}, { cwd, env: {} })).toEqual({ url: `http://${host}:4001`, source: "state" });
    }
  });

  it("does not believe a record that any process fits, such as one in a clone", async () => {
    const cwd = await folder();
    await mkdir(join(cwd, ".agent-server"));
    const file = join(cwd, ".agent-server", "server.json");
    const forged = { pid: 1, process_start: null, host: "127.0.0.1", port: 4001, url: "http://127.0.0.1:4001" };
    await writeFile(file, JSON.stringify(forged));
    expect((await findServer({}, { cwd, env: {} })).source).toBe("default");
  });
});

describe("a key", () => {
  const KEY = { AGENT_SERVER_API_KEY: "secret" };
  const ls = (url: string, env: Record<string, string>): ReturnType<typeof finish> =>
    finish(["threads", "ls", "--url", url], { env });
  const redirect =
    (to: () => string, status = 307) =>
    (response: ServerResponse): unknown =>
      response.writeHead(status, { location: to() }).end();

  it("does not follow a redirect to another server", async () => {
    const other = await scripted({ "POST /threads/search": (response) => json(response, []) });
    for (const status of [301, 302, 303, 307, 308]) {
      const named = await scripted({ "POST /threads/search": redirect(() => `${other.url}/threads/search`, status) });
      const { code, stderr } = await ls(named.url, KEY);
      expect(code).toBe(1);
      expect(stderr).toBe(
        `error: ${named.url} redirects to another server, ${other.url}, which the API key is not sent to.\nIf you trust it, name it yourself: --url ${other.url}\n`,
      );
    }
    expect(other.received).toEqual([]);
  });

  it("goes along on the same server, and without one every redirect is followed", async () => {
    const other = await scripted({ "POST /threads/search": (response) => json(response, []) });
    const named = await scripted({
      "POST /threads/search": redirect(() => "/moved?to=here"),
      "POST /moved": (response) => json(response, []),
    });
    expect((await ls(named.url, KEY)).code).toBe(0);
    const [asked, moved] = named.received;
    expect(moved).toMatchObject({ path: "/moved?to=here", body: asked!.body, headers: { "x-api-key": "secret" } });
    const elsewhere = await scripted({ "POST /threads/search": redirect(() => `${other.url}/threads/search`) });
    expect((await ls(elsewhere.url, {})).code).toBe(0);
    expect(other.received).toHaveLength(1);
  });

  it("does not follow one of a stream either", async () => {
    const other = await scripted({});
    const named = await scripted({ "GET /threads/t/runs/r/stream": redirect(() => `${other.url}/stream`) });
    const { code, stderr } = await finish(["stream", "t", "r", "--url", named.url], { env: KEY });
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("is not sent to") as string });
    expect(other.received).toEqual([]);
  });

  it("of the platform is not for the agent that `a2a --url` names", async () => {
    const agent = await scripted({ "GET /.well-known/agent-card.json": (response) => json(response, { name: "x" }) });
    const platform = { LANGGRAPH_API_KEY: "lg", LANGSMITH_API_KEY: "ls" };
    const card = (args: string[], env: Record<string, string>): ReturnType<typeof finish> =>
      finish(["a2a", "card", ...args], { env });
    await card(["--url", agent.url], platform);
    await card(["--url", agent.url], { ...platform, ...KEY });
    await card([], { ...platform, AGENT_SERVER_URL: agent.url });
    expect(agent.received.map(({ headers }) => headers["x-api-key"])).toEqual([undefined, "secret", "lg"]);
  });

  it("that is empty counts as not set", async () => {
    const { url, received } = await scripted({ "POST /threads/search": (response) => json(response, []) });
    await ls(url, { AGENT_SERVER_API_KEY: "", LANGGRAPH_API_KEY: " ", LANGSMITH_API_KEY: "ls" });
    expect(received[0]?.headers["x-api-key"]).toBe("ls");
    expect(received[0]?.headers.authorization).toBeUndefined();
  });

  it.each(["AGENT_SERVER_API_KEY", "LANGGRAPH_API_KEY", "LANGSMITH_API_KEY"])(
    "in %s that no header can have is refused, and not shown",
    async (name) => {
      for (const key of ["Ключ", "a\nb"]) {
        const { code, stderr } = await ls("http://localhost:1", { [name]: key });
        expect(code).toBe(2);
        expect(stderr).toContain(`error: ${name} has a line break or a character that no header can have.\n`);
        expect(stderr).not.toContain(key);
      }
    },
  );

  it("does not go round in circles", async () => {
    const named = await scripted({ "POST /threads/search": redirect(() => "/threads/search") });
    expect(await ls(named.url, KEY)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("redirects without an end") as string,
    });
  });
});

describe("talking to a server", () => {
  it("nobody there: exit 3, the address and how to start one", async () => {
    const url = await closedPort();
    const { code, stdout, stderr } = await finish(["threads", "ls", "--url", url]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toBe(`error: No server at ${url} (from --url).\nStart one in your project with: agent-server dev\n`);
  });

  it("says why a port of another protocol is never reached", async () => {
    const { code, stderr } = await finish(["threads", "ls", "--url", "http://127.0.0.1:5060"]);
    expect(code).toBe(3);
    expect(stderr).toContain(
      "error: Cannot reach http://127.0.0.1:5060 (from --url): Node's fetch never connects to port 5060, like browsers.\n",
    );
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
