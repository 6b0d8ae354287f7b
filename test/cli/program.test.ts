import { describe, expect, it } from "vitest";
import { commandTables } from "../../src/cli/reference.ts";
import { version } from "../../src/cli/package.ts";
import { finish } from "./helpers/io.ts";

describe("help and version", () => {
  it.each([[[]], [["--help"]], [["-h"]], [["--no-color"]]])(
    "%j prints the help to stdout and exits 0",
    async (args) => {
      const { code, stdout, stderr } = await finish(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: agent-server/);
      for (const name of ["dev", "init", "invoke", "stream", "threads"])
        expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    },
  );

  it("a group of commands without one prints its help and exits 0", async () => {
    const { code, stdout, stderr } = await finish(["threads"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: agent-server threads/);
  });

  it("-h of dev is help, not the host", async () => {
    const { code, stdout } = await finish(["dev", "-h", "0.0.0.0"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: agent-server dev/);
  });

  it("--version prints the version", async () => {
    expect(await finish(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });
});

describe("usage errors", () => {
  it.each<[string[], RegExp]>([
    [["serve"], /unknown command 'serve'/],
    [["inovke", "hello"], /unknown command 'inovke'\n\(Did you mean invoke\?\)/],
    [["dev", "--prot", "1"], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [["dev", "--port", "x"], /Give a whole number from 0 to 65535/],
    [["dev", "--port", "65536"], /Give a whole number from 0 to 65535/],
    [["dev", "-n", "0"], /Give a whole number from 1\./],
    [["dev", "extra"], /too many arguments/],
    [["stream"], /missing required argument 'thread'/],
    [["threads", "list"], /unknown command 'list'\n\(Did you mean ls\?\)/],
    [["threads", "ls", "--status", "sleeping"], /Allowed choices are idle, busy, interrupted, error/],
    [["threads", "ls", "--limit", "1001"], /from 1 to 1000/],
    [["init", "x", "--template", "nothing"], /Allowed choices are agent, echo/],
    [
      ["invoke", "hello", "--stateless", "--thread", "t"],
      /'--stateless' cannot be used with option '-t, --thread <id>'/,
    ],
    [["invoke"], /There is nothing to send/],
    [["invoke", "hello", "--input", "{}"], /Give one of: a message, --input, --resume/],
    [["invoke", "--input", "{a:1}"], /--input is not valid JSON/],
    [["invoke", "--resume", "yes"], /--resume needs the thread/],
    [["invoke", "hello", "--configurable", "user"], /--configurable user has no value/],
    [
      ["crons", "create", "0 9 * * *"],
      /There is nothing to send\.\n.*: agent-server crons create '0 9 \* \* \*' "hello"/,
    ],
    [["stream", "t", "-m", "values,"], /Give the name of a stream mode/],
    [["dev", "--data-dir", ""], /Give the path of a folder/],
    [["doctor", "--data-dir", " "], /Give the path of a folder/],
    [["threads", "ls", "--data-dir", ""], /Give the path of a folder/],
    [["invoke", "hello", "--url", "ftp://x"], /--url is not a web address: ftp:\/\/x/],
  ])("%j exits 2 and says what to do", async (args, message) => {
    const { code, stdout, stderr } = await finish(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n").length, "a hint").toBeGreaterThan(1);
  });

  it("names the command whose help explains it", async () => {
    expect((await finish(["threads", "get"])).stderr).toContain("Run `agent-server threads get --help`");
  });
});

describe("reference", () => {
  it("has every command, flag, variable and exit code", async () => {
    const text = commandTables();
    for (const command of [
      "dev",
      "init [dir]",
      "invoke [message]",
      "stream <thread> [run]",
      "threads ls",
      "threads state <id>",
    ]) {
      expect(text).toContain(`### \`agent-server ${command}\``);
    }
    expect(text).toContain(
      "| `-p, --port <number>` | port; the next free one when it is taken (default `2024`; variable `AGENT_SERVER_PORT`) |",
    );
    expect(text).toContain("| 130 | stopped by Ctrl-C; not `webhooks listen`, which is done then and exits with 0 |");
    expect(text).toContain("| `NO_COLOR` |");
    const help = await Promise.all(
      [["dev"], ["init"], ["invoke"], ["stream"], ["threads", "ls"], ["threads", "get"]].map((name) =>
        finish([...name, "-h"]),
      ),
    );
    for (const { stdout } of help) {
      for (const [, flag] of stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm))
        if (flag !== "--help") expect(text).toContain(flag);
    }
  });
});
