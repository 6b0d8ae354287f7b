// Every operation of the API gets requests that are nearly right (support/fuzz-requests.ts): whatever comes in, the caller is told what is
// wrong, and nothing breaks. The operations are those of the server's own document, so that a new one is fuzzed too.
// FUZZ_SEED chooses other requests, FUZZ_ROUNDS how many each operation gets.
import { afterAll, beforeAll, expect, test } from "vitest";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { ApiDocument } from "./support/document.ts";
import { faultOf, send, told } from "./support/fuzz-http.ts";
import { faultsToldBy, Health } from "./support/fuzz-health.ts";
import { Random } from "./support/fuzz-random.ts";
import { FuzzedOperation, type Attempt } from "./support/fuzz-requests.ts";
import { fuzzProject, fuzzWorld } from "./support/fuzz-world.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const SEED = process.env["FUZZ_SEED"] ?? "1";
const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? 4);
/** Requests of a round: they share what they are about, which some of them delete. */
const REQUESTS = 10;
/** Requests that are on their way at once. */
const AT_ONCE = 8;

const gates = useGates();
const project = fuzzProject();
let server: TestServer;
let document: ApiDocument;
let health: Health;
let complained = 0;

const operations: string[] = [];
const collect = ({ method, path }: Operation): void => void operations.push(`${method} ${pathTemplate(path)}`);
// Nothing is called but the registration itself.
registerRoutes(collect as never, { http: {} } as never);

beforeAll(async () => {
  server = await startTestServer({ cwd: project.folder });
  document = new ApiDocument((await call(server.url, "GET", "/openapi.json")).json);
  gates.open("hook");
  await world();
  health = await Health.of(server);
});
afterAll(async () => {
  await server.stop();
  project.remove();
});

const world = () => fuzzWorld(server.url, clientOf(server.url), gates.url("hook"));

/** Sends all, some at a time. @returns what was wrong. */
async function sendAll(attempts: Attempt[]): Promise<string[]> {
  const faults: string[] = [];
  const next = attempts[Symbol.iterator]();
  const sender = async (): Promise<void> => {
    for (const attempt of next) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const got = await send(server.url, attempt);
        const fault = faultOf(attempt, got);
        if (fault !== undefined) faults.push(told(attempt, fault, got));
      } catch (error) {
        faults.push(told(attempt, String(error)));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const heard = faultsToldBy(server.events);
  for (const event of heard.slice(complained)) faults.push(`the server complains: ${JSON.stringify(event)}`);
  complained = heard.length;
  return faults;
}

test.each(operations)("%s", { timeout: 120_000 }, async (name) => {
  const random = new Random(`${SEED} ${name}`);
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const operation = new FuzzedOperation(name, document, await world(), random);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    faults.push(...(await sendAll(Array.from({ length: REQUESTS }, () => operation.make()))));
  }
  (await import("node:fs")).appendFileSync("/tmp/faults.txt", faults.map((f) => `## ${name}\n${f}\n\n`).join(""));
  await health.closed();
  expect(faults, `FUZZ_SEED=${SEED}`).toEqual([]);
});

test("afterwards the server is as it was", { timeout: 120_000 }, () => health.check());
