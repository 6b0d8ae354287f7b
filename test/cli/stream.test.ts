// `stream` against a server that sends exactly these events.
import { describe, expect, it } from "vitest";
import { event, events, json, type Routes, scripted } from "./helpers/http.ts";
import { call, finish, type TestProcess } from "./helpers/io.ts";

const terminal: TestProcess = { tty: true, env: { NO_COLOR: "1" } };

function run(id: string, status: string, created_at = "2026-01-01T00:00:00+00:00") {
  return { run_id: id, status, created_at };
}

/** A server whose run `r` sends these pieces, one connection each; all but the last break. */
function routes(pieces: string[], status = "success"): Routes {
  let connections = 0;
  return {
    "GET /threads/t/runs/r/stream": (response) => {
      const text = pieces[connections] ?? "";
      connections += 1;
      events(response);
      if (connections < pieces.length) response.write(text, () => response.destroy());
      else response.end(text);
    },
    "GET /threads/t/runs/r": (response) => json(response, run("r", status)),
  };
}

const VALUES = event("values", { text: "grün\u009b" }, "2");

describe("stream", () => {
  it("prints name and JSON of each event on a terminal", async () => {
    const { url } = await scripted(routes([`: heartbeat\n\n${event("metadata", { run_id: "r" }, "1")}${VALUES}`]));
    expect(await finish(["stream", "t", "r", "--url", url], terminal)).toMatchObject({
      code: 0,
      stdout: 'metadata {"run_id":"r"}\nvalues {"text":"grün\\u009b"}\n',
      stderr: "run r ended with status success\n",
    });
  });

  it.each([
    [{ tty: false }, []],
    [{ tty: true }, ["--json"]],
  ])("%j %j prints one object per line", async (options, flags) => {
    const { url } = await scripted(routes([`${event("custom", "no id")}${VALUES}`]));
    const { stdout } = await finish(["stream", "t", "r", "--url", url, ...flags], options);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: null, event: "custom", data: "no id" },
      { id: "2", event: "values", data: { text: "grün\u009b" } },
    ]);
  });

  it("goes on after the last event when the connection breaks, and says so", async () => {
    const server = await scripted(routes([VALUES, "", event("values", { text: "rest" }, "3")]));
    const { code, stdout, stderr, sleeps } = await finish(
      // The thread stands behind them, and is none of them.
      ["stream", "-m", "values, updates", "--mode", "custom", "t", "r", "--url", server.url],
      {},
    );
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stderr).toContain("connection lost, trying again in 250 ms\nconnection lost, trying again in 500 ms\n");
    expect(sleeps).toEqual([250, 500]);
    const joins = server.received.filter(({ path }) => path.includes("/stream"));
    expect(joins.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "2", "2"]);
    expect(new Set(joins.map(({ path }) => path))).toEqual(
      new Set(["/threads/t/runs/r/stream?stream_mode=values&stream_mode=updates&stream_mode=custom"]),
    );
  });

  it("gives up when the server stays away: exit 3", async () => {
    const server = await scripted(routes(Array.from({ length: 20 }, () => "")));
    const { code, stderr, sleeps } = await finish(["stream", "t", "r", "--url", server.url]);
    expect(code).toBe(3);
    expect(sleeps).toHaveLength(6);
    expect(stderr).toContain(`error: The connection to ${server.url} broke.`);
  });

  it("does not try again when the server refuses", async () => {
    const { url } = await scripted({
      "GET /threads/t/runs/r/stream": (response) => json(response, { detail: "Run not found" }, 404),
    });
    expect(await finish(["stream", "t", "r", "--url", url])).toMatchObject({
      code: 1,
      stderr: "error: Run not found (HTTP 404)\n",
      sleeps: [],
    });
  });

  it("joins the newest run that waits or runs", async () => {
    const runs: Record<string, unknown[]> = {
      running: [run("older", "running", "2026-01-01T00:00:00+00:00")],
      pending: [
        run("r", "pending", "2026-01-01T00:00:02+00:00"),
        run("middle", "pending", "2026-01-01T00:00:01+00:00"),
      ],
    };
    const { url } = await scripted({
      ...routes([VALUES]),
      "GET /threads/t/runs": (response, { path }) =>
        json(response, runs[new URL(path, "http://x").searchParams.get("status") ?? ""]),
    });
    const { code, stderr } = await finish(["stream", "t", "--url", url], terminal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "run r\nrun r ended with status success\n" });
  });

  it("says that no run waits or runs: exit 1", async () => {
    const { url } = await scripted({ "GET /threads/t/runs": (response) => json(response, []) });
    const { code, stderr } = await finish(["stream", "t", "--url", url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: No run waits or runs on thread t\.\n/);
  });

  it.each([
    ["error", "Run r ended with status error."],
    ["timeout", "Run r ended with status timeout."],
    ["running", "The server closed the stream before the run ended."],
  ])("a run that ends with status %s: exit 1", async (status, message) => {
    const { url } = await scripted(routes([VALUES], status));
    expect(await finish(["stream", "t", "r", "--url", url])).toMatchObject({ code: 1, stderr: `error: ${message}\n` });
  });

  it("Ctrl-C leaves and lets the run go on: exit 130", async () => {
    const server = await scripted({
      "GET /threads/t/runs/r/stream": (response) => {
        events(response);
        response.write(VALUES);
      },
    });
    const started = call(["stream", "t", "r", "--url", server.url], terminal);
    await started.seen("stdout", /values/);
    started.signal("SIGINT");
    expect(await started.exitCode).toBe(130);
    expect(started.stderr).toBe("left the stream; run r goes on\n");
    expect(server.received).toHaveLength(1);
  });

  it("colours the names where colour is wanted", async () => {
    const { url } = await scripted(routes([VALUES]));
    const { stdout } = await finish(["stream", "t", "r", "--url", url], { tty: true });
    expect(stdout).toBe('\u001b[32mvalues\u001b[39m {"text":"grün\\u009b"}\n');
  });
});
