// The WebSocket of a thread gets what the other operations get: commands that are nearly right, text that is none, and frames that no
// WebSocket client would send.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import NodeWebSocket from "crossws/websocket";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Health } from "./support/fuzz-health.ts";
import { DEADLINE_MS } from "./support/fuzz-http.ts";
import { jsonOf, mutated, textOf } from "./support/fuzz-json.ts";
import { Random } from "./support/fuzz-random.ts";
import { NO_JSON } from "./support/fuzz-values.ts";
import { fuzzProject, fuzzWorld, type World } from "./support/fuzz-world.ts";
import { useGates } from "./support/gates.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const SEED = process.env["FUZZ_SEED"] ?? "1";
const MESSAGES = 200 * Number(process.env["FUZZ_ROUNDS"] ?? 1);

const gates = useGates();
const project = fuzzProject();
let server: TestServer;
let world: World;
let health: Health;

beforeAll(async () => {
  server = await startTestServer({ cwd: project.folder });
  gates.open("hook");
  world = await fuzzWorld(server.url, clientOf(server.url), gates.url("hook"));
  health = await Health.of(server);
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

/** Node 20 has no WebSocket of its own. */
const Socket = NodeWebSocket as unknown as typeof WebSocket;

interface Response {
  readonly type: string;
  readonly error?: string;
  readonly message?: string;
}

/** A socket on which one message after the other is sent, each when the one before was answered. */
async function talk(path: string, messages: readonly string[]): Promise<{ message: string; response: Response }[]> {
  const socket = new Socket(`${server.url.replace("http", "ws")}${path}`);
  const answered: { message: string; response: Response }[] = [];
  await new Promise<void>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (error?: Error): void => {
      clearTimeout(timer);
      socket.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const next = (): void => {
      clearTimeout(timer);
      const message = messages[answered.length];
      if (message === undefined) return end();
      timer = setTimeout(() => end(new Error(`no answer to ${message.slice(0, 300)}`)), DEADLINE_MS);
      socket.send(message);
    };
    socket.addEventListener("open", next);
    socket.addEventListener("error", () => end(new Error("the socket failed")));
    socket.addEventListener("close", ({ code, reason }) => {
      end(new Error(`closed with ${code} ${reason} behind ${messages[answered.length]?.slice(0, 300)}`));
    });
    socket.addEventListener("message", ({ data }) => {
      const response = JSON.parse(String(data)) as Response;
      if (response.type === "event") return;
      answered.push({ message: messages[answered.length]!, response });
      next();
    });
  });
  return answered;
}

test("every message is answered, and none with an error of the server's", { timeout: 120_000 }, async () => {
  const random = new Random(`${SEED} socket`);
  const commands = world.known["POST /threads/{thread_id}/commands"]!;
  const make = (): string => {
    if (random.percent(15)) return random.pick(NO_JSON);
    return textOf(mutated(jsonOf(random.pick(commands)), random));
  };
  for (const { thread_id } of world.places) {
    const messages = Array.from({ length: MESSAGES / world.places.length }, make);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answered = await talk(`/threads/${thread_id}/stream/events`, messages);
    expect(answered).toHaveLength(messages.length);
    const faults = answered.filter(
      ({ response }) => !["success", "error"].includes(response.type) || response.message === "Internal Server Error",
    );
    expect(faults, `FUZZ_SEED=${SEED}`).toEqual([]);
  }
});

/** Speaks WebSocket by hand: sends bytes behind the handshake. @returns when the server has closed the connection. */
function frame(bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const path = `/threads/${world.places[0]!["thread_id"]}/stream/events`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error("the connection is still open"));
    }, DEADLINE_MS);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.once("data", () => socket.write(bytes));
    const key = randomBytes(16).toString("base64");
    const upgrade = [
      "connection: upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${key}`,
    ];
    socket.write([`GET ${path} HTTP/1.1`, "host: localhost", ...upgrade, "", ""].join("\r\n"));
  });
}

const MASK = Buffer.from([1, 2, 3, 4]);
const masked = (payload: Buffer): Buffer => Buffer.from(payload.map((byte, index) => byte ^ MASK[index % 4]!));
/** A frame as a client sends it: with less than 126 bytes. */
const client = (head: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([head, 0x80 | payload.length]), MASK, masked(payload)]);

test.each([
  ["text that is no UTF-8", client(0x81, Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]))],
  ["a frame that is not masked", Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  ["reserved bits", client(0xf1, Buffer.from("{}"))],
  ["an operation that there is not", client(0x8b, Buffer.from("{}"))],
  ["the rest of a message that has not begun", client(0x80, Buffer.from("{}"))],
  ["a ping in pieces", client(0x09, Buffer.from("a"))],
  ["a ping that is too long", Buffer.concat([Buffer.from([0x89, 0xfe, 0x01, 0x00]), MASK, Buffer.alloc(256)])],
  ["a length beyond all limits", Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(8, 0xff), MASK])],
  ["a length beyond the limit", Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0]), MASK])],
  ["a goodbye with a bad code", client(0x88, Buffer.from([0x00, 0x01]))],
  ["no frames at all", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
])("%s ends the connection and nothing else", async (_, bytes) => {
  await frame(bytes);
});

test("afterwards the server is as it was", { timeout: 120_000 }, () => health.check());
