// `agent-server webhooks`: the receiver on a real port, and what the other commands print.
import { describe, expect, it } from "vitest";
import { deliveryHeaders } from "../../src/webhooks/signature.ts";
import { json, scripted } from "./helpers/http.ts";
import { call, finish, type Call, type TestProcess } from "./helpers/io.ts";

const terminal: TestProcess = { tty: true, env: { NO_COLOR: "1" } };

const run = {
  run_id: "11111111-1111-4111-8111-111111111111",
  thread_id: "22222222-2222-4222-8222-222222222222",
  status: "success",
  error: null,
  values: {
    messages: [
      { type: "human", content: "hi" },
      { type: "ai", content: "hello\u001b[31m" },
    ],
  },
};

async function listening(
  args: readonly string[],
  options: TestProcess = terminal,
): Promise<{ started: Call; url: string }> {
  const started = call(["webhooks", "listen", "--port", "0", ...args], options);
  const text = await started.seen("stderr", /http:\/\/\S+/);
  return { started, url: /http:\/\/\S+?(?=\s)/.exec(text)![0] };
}

const post = (url: string, id: string, body: unknown = run, secret?: string): Promise<Response> => {
  const text = JSON.stringify(body);
  return fetch(url, { method: "POST", body: text, headers: deliveryHeaders(id, text, secret, Date.now()) });
};

describe("webhooks listen", () => {
  it("prints each delivery, and stops after --count", async () => {
    const { started, url } = await listening(["--count", "2"]);
    expect((await post(`${url}a?x=1`, "d-1")).status).toBe(200);
    expect(
      (await post(`${url}b`, "d-2", { ...run, status: "error", error: { error: "E", message: "m" }, values: { n: 1 } }))
        .status,
    ).toBe(200);
    expect(await started.exitCode).toBe(0);
    expect(started.stdout).toContain(`POST /a?x=1  200  d-1, attempt 1
  run        ${run.run_id}  success
  thread     ${run.thread_id}
  answer     ai: hello␛[31m
`);
    expect(started.stdout).toContain('  error      {"error":"E","message":"m"}\n  values     {"n":1}\n');
  });

  it("--fail answers the first attempts of each delivery with 503", async () => {
    const { started, url } = await listening(["--fail", "2", "--count", "1"]);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(url, "d-1")).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect(await started.exitCode).toBe(0);
    expect(started.stdout).toContain("503  d-1, attempt 2");
  });

  it("--status and --slow rehearse trouble; Ctrl-C ends it", async () => {
    const { started, url } = await listening(["--status", "418", "--slow", "1ms"]);
    expect((await post(url, "d-1")).status).toBe(418);
    started.signal("SIGINT");
    expect(await started.exitCode).toBe(0);
  });

  it("--secret checks signatures", async () => {
    const { started, url } = await listening(["--secret", "abc", "--count", "1"]);
    expect((await post(url, "d-1")).status).toBe(401);
    expect((await post(url, "d-1", run, "other")).status).toBe(401);
    expect((await post(url, "d-1", run, "abc")).status).toBe(200);
    expect(await started.exitCode).toBe(0);
    expect(started.stdout.match(/signature {2}(\w+)/g)).toEqual([
      "signature  missing",
      "signature  wrong",
      "signature  valid",
    ]);
  });

  it("prints a line of JSON for each delivery where stdout is no terminal", async () => {
    const { started, url } = await listening(["--count", "1"], {});
    await fetch(url, { method: "POST", body: "no json" });
    expect(await started.exitCode).toBe(0);
    expect(JSON.parse(started.stdout)).toMatchObject({ delivery_id: null, attempt: 1, answered: 200, body: "no json" });
  });

  it("says that a port is taken, and takes POST only", async () => {
    const { started, url } = await listening([]);
    expect((await fetch(url)).status).toBe(405);
    const { code, stderr } = await finish(["webhooks", "listen", "--port", new URL(url).port]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Port \d+ is taken\./);
    expect(stderr).toContain("--port");
    started.signal("SIGINT");
    await started.exitCode;
  });

  it.each([
    ["--slow", "soon", "Give a duration"],
    ["--status", "99", "Give a whole number from 200 to 599"],
    ["--fail", "-1", "Give a whole number"],
  ])("%s %s is a usage error", async (flag, value, text) => {
    const { code, stderr } = await finish(["webhooks", "listen", `${flag}=${value}`]);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });
});

const delivery = {
  delivery_id: "33333333-3333-4333-8333-333333333333",
  run_id: run.run_id,
  run_status: "success",
  url: "https://example.com/hook",
  status: "pending",
  created_at: "2026-01-01T11:55:00+00:00",
  next_attempt_at: "2026-01-01T12:00:05+00:00",
  attempt_count: 2,
  attempts: [
    { at: "2026-01-01T11:55:00+00:00", duration_ms: 4, status: null, error: "connect ECONNREFUSED", answer: "" },
    { at: "2026-01-01T11:55:01+00:00", duration_ms: 9, status: 503, error: "answered 503", answer: "try later" },
  ],
};

describe("webhooks ls, show, replay", () => {
  it("lists deliveries", async () => {
    const server = await scripted({ "GET /internal/webhooks": (response) => json(response, [delivery]) });
    const { code, stdout } = await finish(["webhooks", "ls", "--status", "pending", "--url", server.url], terminal);
    expect(code).toBe(0);
    expect(stdout).toBe(`DELIVERY                              STATUS   TRIES  LAST ANSWER  MADE       URL
33333333-3333-4333-8333-333333333333  pending  2      503          5 min ago  https://example.com/hook
`);
    expect(server.received[0]!.path).toBe("/internal/webhooks?limit=20&status=pending");
  });

  it("shows attempts and what is sent", async () => {
    const server = await scripted({
      [`GET /internal/webhooks/${delivery.delivery_id}`]: (response) =>
        json(response, { ...delivery, body: { run_id: "r" } }),
    });
    const { stdout } = await finish(["webhooks", "show", delivery.delivery_id, "--url", server.url], terminal);
    expect(stdout).toContain("status      pending, 2 attempts\n");
    expect(stdout).toContain("connect ECONNREFUSED  4 ms\n");
    expect(stdout).toContain("answered 503  9 ms  try later\n");
    expect(stdout).toContain('{\n  "run_id": "r"\n}\n');
  });

  it("replays", async () => {
    const server = await scripted({
      [`POST /internal/webhooks/${delivery.delivery_id}/replay`]: (response) =>
        json(response, { ...delivery, delivery_id: "44444444-4444-4444-8444-444444444444" }),
    });
    const { stdout, stderr } = await finish(
      ["webhooks", "replay", delivery.delivery_id, "--url", server.url],
      terminal,
    );
    expect(stdout).toBe("44444444-4444-4444-8444-444444444444\n");
    expect(stderr).toContain("agent-server webhooks show 44444444-4444-4444-8444-444444444444");
  });
});
