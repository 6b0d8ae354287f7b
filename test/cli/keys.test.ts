// API keys at the command line: making them, giving them to a server, and what is refused.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { call as http } from "../e2e/support/http.ts";
import { call, finish } from "./helpers/io.ts";

const DEV = ["dev", "--port", "0", "--no-persist", "--no-reload"] as const;

function folder(files: Record<string, string> = {}): string {
  const path = mkdtempSync(join(tmpdir(), "agent-server-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** Runs `dev` (the demo, where the folder has no config) until `during` is done. */
async function serving(args: readonly string[], cwd: string, during: (url: string) => Promise<void>) {
  const dev = call([...DEV, ...args], { cwd });
  const failed = dev.exitCode.then((): never => {
    throw new Error(dev.stderr);
  });
  const text = await Promise.race([dev.seen("stderr", /url\s+(http:\S+)[\s\S]*ready in/), failed]);
  // Its end comes later, and is none too soon.
  failed.catch(() => undefined);
  try {
    await during(/url\s+(http:\S+)/.exec(text)![1]!);
  } finally {
    dev.signal("SIGINT");
    await dev.exitCode;
  }
  return dev.stderr;
}

describe("keys new", () => {
  it("prints a key and nothing else, so that it can go into a variable", async () => {
    const [one, two] = [await finish(["keys", "new"]), await finish(["keys", "new"])];
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toMatch(/^as_[\w-]{43}\n$/);
    expect(two.stdout).not.toBe(one.stdout);
  });

  it("tells a person what to do with it", async () => {
    const { stdout, stderr } = await finish(["keys", "new"], { tty: true, env: { NO_COLOR: "1" } });
    expect(stdout).toMatch(/^as_/);
    for (const name of ["AGENT_SERVER_API_KEYS", "--api-key-file", "AGENT_SERVER_API_KEY ", "LANGGRAPH_API_KEY"])
      expect(stderr).toContain(name);
    expect(stderr).not.toContain(stdout.trim());
  });

  it("prints JSON on request", async () => {
    const { stdout } = await finish(["keys", "new", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ key: expect.stringMatching(/^as_/) });
  });
});

describe("dev", () => {
  it("takes keys one by one and in a file, says so, and shows none of them", async () => {
    const cwd = folder({ "keys.txt": "# of the team\n\n  key-three  \r\n" });
    const args = ["--api-key", "key-one", "--api-key", "key-two", "--api-key-file", "keys.txt"];
    const shown = await serving(args, cwd, async (url) => {
      const status = async (key: string): Promise<number> =>
        (await http(url, "POST", "/threads/search", { headers: { "x-api-key": key }, body: {} })).status;
      for (const key of ["key-one", "key-two", "key-three"]) expect([key, await status(key)]).toEqual([key, 200]);
      for (const key of ["", "key-five", "# of the team", "of"]) expect([key, await status(key)]).toEqual([key, 401]);

      const listed = await finish(["threads", "ls", "--url", url], { env: { AGENT_SERVER_API_KEY: "key-two" } });
      expect(listed).toMatchObject({ code: 0, stdout: "[]\n" });
      const refused = await finish(["threads", "ls", "--url", url]);
      expect(refused.stderr).toBe(
        "error: This server takes an API key: send it as X-Api-Key (HTTP 401)\n" +
          "Set AGENT_SERVER_API_KEY to a key that this server accepts.\n",
      );
      const invoked = await finish(["invoke", "hello", "--url", url], { env: { LANGGRAPH_API_KEY: "key-one" } });
      expect(invoked).toMatchObject({ code: 0, stdout: expect.stringContaining("You said: hello") });
    });
    expect(shown).toMatch(/^ {2}auth +an API key, in X-Api-Key$/m);
    expect(shown).not.toMatch(/key-(one|two|three)/);
  });

  it.each([
    ["missing.txt", {}, /^error: The file of --api-key-file cannot be read: .*missing\.txt \(ENOENT\)\.\n$/],
    ["keys.txt", { "keys.txt": "\n# none yet\n" }, /^error: The file .* has no keys: .*\n.*keys new >> keys\.txt\n$/],
    ["keys.txt", { "keys.txt": "two words\n" }, /^error: An API key has a space/],
  ])("refuses a file of keys that has none: %s %j", async (file, files, message) => {
    const { code, stderr } = await finish([...DEV, "--api-key-file", file], { cwd: folder(files) });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("two words");
  });

  it("refuses to open itself to the network, and says what to do", async () => {
    const { code, stdout, stderr } = await finish([...DEV, "--host", "0.0.0.0"], { cwd: folder() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      [
        "error: Everyone who can reach 0.0.0.0 could run these graphs and read these threads.",
        "Take an API key:       AGENT_SERVER_API_KEYS=$(agent-server keys new) agent-server dev --host …",
        "or your own handlers:  auth.path in the config",
        "or nothing at all:     --insecure",
        "",
      ].join("\n"),
    );
  });

  it("opens itself with a key, and without one when told that this is wanted", async () => {
    const shown = await serving(["--host", "0.0.0.0", "--api-key", "key"], folder(), async (url) => {
      expect((await http(url, "GET", "/info")).status).toBe(401);
    });
    expect(shown).not.toContain("warning");
    const open = await serving(["--host", "0.0.0.0", "--insecure"], folder(), async (url) => {
      expect((await http(url, "GET", "/info")).status).toBe(200);
    });
    expect(open).toContain("nobody has to authenticate");
  });

  it("refuses keys beside auth.path", async () => {
    const auth = 'import { Auth } from "@langchain/langgraph-sdk/auth"; export const auth = new Auth();';
    const config = { graphs: { agent: "./graph.ts:graph" }, auth: { path: "./auth.ts:auth" } };
    const cwd = folder({ "auth.ts": auth, "graph.ts": "", "langgraph.json": JSON.stringify(config) });
    const { code, stderr } = await finish([...DEV, "--api-key", "key"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: auth\.path decides who is let in, so that API keys would mean nothing\.\nLeave away /m,
    );
  });
});
