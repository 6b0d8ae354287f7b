// Webhooks in trouble: retries on the test's own clock, redirects, signatures, policies, secrets, and receivers that are dead or slow.
import { hostname } from "node:os";
import { lookup } from "node:dns/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestClock } from "../../src/clock.ts";
import { verifySignature } from "../../src/webhooks/signature.ts";
import { projectWith } from "./support/config.ts";
import { call } from "./support/http.ts";
import { startReceiver, type Hook, type Receiver } from "./support/receiver.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

let receiver: Receiver;
let server: TestServer | undefined;
let clock: TestClock;

beforeEach(async () => {
  receiver = await startReceiver();
  clock = new TestClock("2026-01-01T00:00:00Z");
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await receiver.close();
});

const input = { messages: [{ role: "user", content: "hello" }] };

async function start(config: Record<string, unknown> = {}): Promise<TestServer> {
  return (server = await startTestServer({ cwd: projectWith(config), clock }));
}

const run = async (webhook: string): Promise<{ status: number; json: unknown }> =>
  call(server!.url, "POST", "/runs/wait", { body: { assistant_id: "echo", input, webhook } });

interface Delivery {
  readonly delivery_id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly attempts: { status: number | null; error: string | null; answer: string }[];
}

const deliveries = async (): Promise<Delivery[]> =>
  (await call(server!.url, "GET", "/internal/webhooks?limit=1000")).json as Delivery[];

/** Waits until the newest delivery was tried so often. */
async function tried(count: number): Promise<Delivery> {
  await expect.poll(async () => (await deliveries())[0]?.attempt_count).toBe(count);
  return (await deliveries())[0]!;
}

const idOf = (hook: Hook): unknown => hook.headers["webhook-id"];

describe("tries again", () => {
  test.each([408, 425, 429, 500, 502, 503])("on %d, with the same id, until it arrives", async (status) => {
    await start();
    receiver.react = (_, index) => ({ status: index < 2 ? status : 200 });
    await run(receiver.url);
    const first = await tried(1);
    expect(first).toMatchObject({ status: "pending", attempts: [{ status, error: `answered ${status}` }] });
    await clock.advance(1000);
    await tried(2);
    await clock.advance(2000);
    const last = await tried(3);
    expect(last).toMatchObject({ status: "delivered", next_attempt_at: null });
    expect(new Set(receiver.hooks.map(idOf)).size).toBe(1);
  });

  test("when nobody listens, and gives up after max_attempts, which is said", async () => {
    await start({ agent_server: { webhooks: { max_attempts: 3 } } });
    const dead = await freePort();
    await run(`http://user:pa55@127.0.0.1:${dead}/x?token=s3cret`);
    await tried(1);
    await clock.advance(1000);
    await tried(2);
    await clock.advance(2000);
    expect(await tried(3)).toMatchObject({ status: "failed", next_attempt_at: null });
    await clock.advance(3_600_000);
    expect((await deliveries())[0]!.attempt_count).toBe(3);
    const logs = JSON.stringify(server!.events);
    expect(logs).toContain(`http://127.0.0.1:${dead}/x was given up after 3 attempts`);
    expect(logs).toContain("ECONNREFUSED");
    expect(logs).not.toMatch(/pa55|s3cret|user:/);
  });

  test("with pauses that grow and are left to chance", async () => {
    await start();
    receiver.react = () => ({ status: 500 });
    await run(receiver.url);
    const pauses: number[] = [];
    for (let count = 1; count <= 5; count++) {
      const { next_attempt_at: next } = await tried(count);
      pauses.push(Date.parse(next!) - clock.now());
      await clock.advanceTo(Date.parse(next!));
    }
    for (const [i, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(500 * 2 ** i);
      expect(pause).toBeLessThanOrEqual(1000 * 2 ** i);
    }
  });

  test("when the receiver asks for it: Retry-After in seconds and as a date", async () => {
    await start();
    receiver.react = (_, index) =>
      index === 0
        ? { status: 503, headers: { "retry-after": "120" } }
        : { status: 429, headers: { "retry-after": new Date(clock.now() + 60_000).toUTCString() } };
    await run(receiver.url);
    const first = await tried(1);
    const wait = Date.parse(first.next_attempt_at!) - clock.now();
    expect(wait).toBeGreaterThanOrEqual(120_000);
    expect(wait).toBeLessThanOrEqual(121_000);
    await clock.advance(wait);
    const second = await tried(2);
    expect(Date.parse(second.next_attempt_at!) - clock.now()).toBeGreaterThanOrEqual(59_000);
  });

  test("but not at once: Retry-After: 0 does not burn the attempts", async () => {
    await start();
    receiver.react = () => ({ status: 503, headers: { "retry-after": "0" } });
    await run(receiver.url);
    const { next_attempt_at: next } = await tried(1);
    expect(Date.parse(next!) - clock.now()).toBeGreaterThanOrEqual(500);
  });

  test("but not when the receiver refuses", async () => {
    await start();
    receiver.react = () => ({ status: 400, body: "no such hook" });
    await run(receiver.url);
    expect(await tried(1)).toMatchObject({
      status: "failed",
      attempts: [{ status: 400, error: "answered 400", answer: "no such hook" }],
    });
  });

  test("when an attempt takes too long", async () => {
    await start({ agent_server: { webhooks: { timeout_seconds: 0.05, max_attempts: 1 } } });
    receiver.react = () => new Promise(() => undefined);
    await run(receiver.url);
    expect(await tried(1)).toMatchObject({ status: "failed", attempts: [{ error: "no answer within 0.05 s" }] });
  });

  test("after a restart, with the same id, when its time has come", async () => {
    const folder = projectWith({});
    const dataDir = `${folder}/state`;
    receiver.react = (_, index) => ({ status: index === 0 ? 503 : 200 });
    server = await startTestServer({ cwd: folder, dataDir, clock });
    await run(receiver.url);
    await tried(1);
    await server.stop();
    server = await startTestServer({ cwd: folder, dataDir, clock });
    await clock.advance(1000);
    expect(await tried(2)).toMatchObject({ status: "delivered" });
    expect(idOf(receiver.hooks[0]!)).toBe(idOf(receiver.hooks[1]!));
  });
});

describe("redirects", () => {
  test("are followed with the same body, and headers of the operator do not go to another origin", async () => {
    const other = await startReceiver();
    try {
      process.env["LG_WEBHOOK_TOKEN"] = "s3cret-token";
      await start({ webhooks: { headers: { "X-Token": "${{ env.LG_WEBHOOK_TOKEN }}" } } });
      receiver.react = (hook) =>
        hook.path === "/a"
          ? { status: 307, headers: { location: "/b" } }
          : { status: 302, headers: { location: `${other.url}/c` } };
      await run(`${receiver.url}/a`);
      const [last] = await other.received(1);
      expect(receiver.hooks.map(({ path }) => path)).toEqual(["/a", "/b"]);
      expect(receiver.hooks.map(({ headers }) => headers["x-token"])).toEqual(["s3cret-token", "s3cret-token"]);
      expect(last!.headers["x-token"]).toBeUndefined();
      expect(last!.text).toBe(receiver.hooks[0]!.text);
      expect(await tried(1)).toMatchObject({ status: "delivered" });
    } finally {
      delete process.env["LG_WEBHOOK_TOKEN"];
      await other.close();
    }
  });

  test("to a forbidden place are refused, and not tried again", async () => {
    await start({ webhooks: { url: { allowed_domains: ["127.0.0.1"] } } });
    receiver.react = () => ({ status: 307, headers: { location: "http://localhost:1/" } });
    await run(receiver.url);
    expect(await tried(1)).toMatchObject({
      status: "failed",
      attempts: [{ error: expect.stringContaining("Redirected: The webhook URL has the host localhost") }],
    });
  });

  test("without end are given up", async () => {
    await start();
    receiver.react = () => ({ status: 307, headers: { location: "/again" } });
    await run(receiver.url);
    expect(await tried(1)).toMatchObject({ status: "failed", attempts: [{ status: 307 }] });
    expect(receiver.hooks).toHaveLength(6);
  });
});

test("a signature proves the sender, as Standard Webhooks says", async () => {
  const secret = `whsec_${Buffer.from("a secret of the test").toString("base64")}`;
  await start({ agent_server: { webhooks: { secret } } });
  await run(receiver.url);
  const [hook] = await receiver.received(1);
  const id = hook!.headers["webhook-id"] as string;
  const time = hook!.headers["webhook-timestamp"] as string;
  const signature = hook!.headers["webhook-signature"] as string;
  expect(verifySignature({ id, time, signature, body: hook!.text, secret })).toBe(true);
  expect(verifySignature({ id, time, signature, body: `${hook!.text} `, secret })).toBe(false);
  expect(Number(time)).toBe(clock.now() / 1000);
});

test("header values are sent, and are in no record, answer or log, even if the receiver sends them back", async () => {
  process.env["LG_WEBHOOK_TOKEN"] = "s3cret-token";
  try {
    await start({ webhooks: { headers: { Authorization: "Bearer ${{ env.LG_WEBHOOK_TOKEN }}" } } });
    receiver.react = (hook) => ({ status: 400, body: `refused: ${hook.headers.authorization?.slice(7)}` });
    await run(receiver.url);
    const [hook] = await receiver.received(1);
    expect(hook!.headers.authorization).toBe("Bearer s3cret-token");
    const { delivery_id, attempts } = await tried(1);
    expect(attempts[0]!.answer).toBe("refused: ***");
    const shown = await call(server!.url, "GET", `/internal/webhooks/${delivery_id}`);
    expect(shown.text + JSON.stringify(server!.events)).not.toContain("s3cret-token");
  } finally {
    delete process.env["LG_WEBHOOK_TOKEN"];
  }
});

test("the operator's headers are not for the address of a push notification, which a caller chooses", async () => {
  process.env["LG_WEBHOOK_TOKEN"] = "s3cret-token";
  try {
    await start({ webhooks: { headers: { "X-Operator": "${{ env.LG_WEBHOOK_TOKEN }}" } } });
    const taskPushNotificationConfig = { url: receiver.url, token: "of-the-caller" };
    const message = { role: "ROLE_USER", messageId: "m", parts: [{ text: "hello" }] };
    const params = { message, configuration: { taskPushNotificationConfig } };
    await call(server!.url, "POST", "/a2a/echo", { body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params } });
    const [hook] = await receiver.received(1);
    expect(hook!.headers["x-a2a-notification-token"]).toBe("of-the-caller");
    expect(JSON.stringify(hook!.headers)).not.toContain("s3cret-token");
  } finally {
    delete process.env["LG_WEBHOOK_TOKEN"];
  }
});

describe("the policy of the config", () => {
  test.each([
    [{ allowed_domains: ["example.com"] }, "http://127.0.0.1:1/", "webhooks.url.allowed_domains"],
    [{ allowed_domains: ["*.example.com"] }, "http://example.com/", "webhooks.url.allowed_domains"],
    [{ require_https: true }, "http://example.com/", "webhooks.url.require_https"],
    [{ allowed_ports: [443] }, "https://example.com:8443/", "webhooks.url.allowed_ports"],
    [{ max_url_length: 10 }, "http://example.com/", "webhooks.url.max_url_length"],
    [{ disable_loopback: true }, "/threads", "webhooks.url.disable_loopback"],
    [{ disable_loopback: true }, "http://0x7f000001/", "webhooks.url.disable_loopback"],
    [{ disable_loopback: true }, "http://[::ffff:127.0.0.1]/", "webhooks.url.disable_loopback"],
  ])("%j refuses %s for runs and crons", async (url, webhook, rule) => {
    await start({ webhooks: { url } });
    const client = clientOf(server!.url);
    const { thread_id: thread } = await client.threads.create();
    const body = { assistant_id: "echo", input, webhook };
    for (const path of ["/runs", `/threads/${thread}/runs`, `/threads/${thread}/runs/stream`, "/runs/wait"]) {
      const answer = await call(server!.url, "POST", path, { body });
      expect([path, answer.status]).toEqual([path, 422]);
      expect((answer.json as { detail: string }).detail).toContain(rule);
    }
    for (const path of ["/runs/crons", `/threads/${thread}/runs/crons`]) {
      const answer = await call(server!.url, "POST", path, { body: { ...body, schedule: "0 0 * * *" } });
      expect([path, answer.status]).toEqual([path, 422]);
    }
    expect(await client.runs.list(thread)).toEqual([]);
    expect(await client.crons.count()).toBe(0);
  });

  test("disable_loopback refuses a name that leads to this machine, at creation", async ({ skip }) => {
    const name = hostname();
    const addresses = await lookup(name, { all: true }).catch(() => []);
    if (!addresses.some(({ address }) => address.startsWith("127."))) skip(`${name} does not lead to 127.0.0.1 here`);
    await start({ webhooks: { url: { disable_loopback: true } } });
    const answer = await run(`http://${name}/`);
    expect(answer.status).toBe(422);
    expect((answer.json as { detail: string }).detail).toContain(`leads to this machine (${name})`);
  });
});

test("http.disable_webhooks keeps back what waits in the outbox, and refuses to replay", async () => {
  const folder = projectWith({});
  const dataDir = `${folder}/state`;
  receiver.react = () => ({ status: 503 });
  server = await startTestServer({ cwd: folder, dataDir, clock });
  await run(receiver.url);
  const { delivery_id: id } = await tried(1);
  await server.stop();
  server = await startTestServer({ cwd: projectWith({ http: { disable_webhooks: true } }), dataDir, clock });
  await clock.advance(60_000);
  await run(receiver.url);
  expect(receiver.hooks).toHaveLength(1);
  expect(await tried(1)).toMatchObject({ delivery_id: id, status: "pending" });
  expect((await call(server.url, "POST", `/internal/webhooks/${id}/replay`)).status).toBe(409);
});

test("http.disable_webhooks: the run runs, nothing is sent, and it is said once", async () => {
  await start({ http: { disable_webhooks: true } });
  expect((await run(receiver.url)).status).toBe(200);
  expect((await run("ftp://no-matter/")).status).toBe(200);
  expect(await deliveries()).toEqual([]);
  expect(receiver.hooks).toEqual([]);
  const said = server!.events.filter((event) => JSON.stringify(event).includes("disable_webhooks"));
  expect(said).toHaveLength(1);
});

test("many receivers that hang hold up no other one", async () => {
  await start({ agent_server: { webhooks: { timeout_seconds: 300 } } });
  const hanging = await Promise.all(Array.from({ length: 20 }, startReceiver));
  for (const one of hanging) one.react = () => new Promise(() => undefined);
  try {
    await Promise.all(hanging.flatMap(({ url }) => Array.from({ length: 10 }, () => run(url))));
    await run(receiver.url);
    await receiver.received(1);
  } finally {
    await Promise.all(hanging.map((one) => one.close()));
  }
});

test("receivers that hang hold up neither runs nor other receivers", async () => {
  await start();
  const hanging = await startReceiver();
  hanging.react = () => new Promise(() => undefined);
  const dead = await freePort();
  try {
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        run(i % 3 === 0 ? hanging.url : i % 3 === 1 ? `http://127.0.0.1:${dead}/` : receiver.url),
      ),
    );
    const arrived = await receiver.received(20);
    expect(new Set(arrived.map(idOf)).size).toBe(20);
    expect(hanging.hooks.length).toBeLessThanOrEqual(8);
  } finally {
    await hanging.close();
  }
});

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
