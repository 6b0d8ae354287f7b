// Every operation of the API gets requests that are nearly right (support/fuzz-requests.ts): whatever comes in, the caller is told what is
// wrong, and nothing breaks. The operations are those of the server's own document, so that a new one is fuzzed too.
// FUZZ_SEED chooses other requests, FUZZ_ROUNDS how many each operation gets.
import { afterAll, beforeAll, expect, test } from "vitest";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { ApiDocument } from "./support/document.ts";
import { faultOf, send, shown, type Got } from "./support/fuzz-http.ts";
import { faultsToldBy, Health } from "./support/fuzz-health.ts";
import { Random } from "./support/fuzz-random.ts";
import { FuzzedOperation, type Attempt } from "./support/fuzz-requests.ts";
import { fuzzProject, fuzzWorld, learn } from "./support/fuzz-world.ts";
import { useGates } from "./support/gates.ts";
import { call } from "./support/http.ts";
import { clientOf, startTestServer, type TestServer } from "./support/server.ts";

const SEED = process.env["FUZZ_SEED"] ?? "1";
const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? 1);
/** Requests of a round: they share what they are about, which some of them delete. */
const REQUESTS = 30;
/** The same when all operations are mixed. */
const MIXED = 500;
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

/** Sends all, some at a time. @param heard gets what was answered. @returns what was wrong. */
async function sendAll(attempts: IterableIterator<Attempt>, heard?: (got: Got) => void): Promise<string[]> {
  const faults: string[] = [];
  const sender = async (): Promise<void> => {
    for (const attempt of attempts) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const got = await send(server.url, attempt);
        heard?.(got);
        const fault = faultOf(attempt, got);
        if (fault !== undefined) faults.push(shown(attempt, fault, got));
      } catch (error) {
        faults.push(shown(attempt, String(error)));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const told = faultsToldBy(server.events);
  for (const event of told.slice(complained)) faults.push(`the server complains: ${JSON.stringify(event)}`);
  complained = told.length;
  return faults;
}

test.each(operations)("%s", { timeout: 120_000 }, async (name) => {
  const random = new Random(`${SEED} ${name}`);
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const operation = new FuzzedOperation(name, document, await world(), random);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    faults.push(...(await sendAll(Array.from({ length: REQUESTS }, () => operation.make()).values())));
  }
  await health.closed();
  expect(faults, `FUZZ_SEED=${SEED}`).toEqual([]);
});

test("all operations at once, with what others have made", { timeout: 120_000 }, async () => {
  const random = new Random(`${SEED} all`);
  // What still waits for its time on threads of the other tests would hold up who comes behind it.
  await call(server.url, "POST", "/runs/cancel", { body: { status: "all" } });
  const about = await world();
  function* attempts(): Generator<Attempt> {
    for (let i = 0; i < ROUNDS * MIXED; i++)
      yield new FuzzedOperation(random.pick(operations), document, about, random).make();
  }
  const faults = await sendAll(attempts(), ({ text }) => learn(about, text, random));
  await health.closed();
  expect(faults, `FUZZ_SEED=${SEED}`).toEqual([]);
});

test("afterwards the server is as it was", { timeout: 120_000 }, () => health.check());
