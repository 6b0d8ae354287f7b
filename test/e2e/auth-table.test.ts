// Every operation of the API passes the door: without credentials and with wrong ones it answers 401, to somebody else as if what it is
// about did not exist, and to the owner as always. Nothing that the others send changes anything. The rows are in support/auth-rows.ts;
// an operation without one fails here.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { pathTemplate, type Operation } from "../../src/server/operation.ts";
import { registerRoutes } from "../../src/server/routes.ts";
import { type Asked, ROWS } from "./support/auth-rows.ts";
import { ADA, AuthWorld, BOB } from "./support/auth-world.ts";
import { useGates } from "./support/gates.ts";
import { type Answer, glance } from "./support/http.ts";
import { useServer } from "./support/server.ts";

const server = useServer({ cwd: join(import.meta.dirname, "..", "fixtures", "auth-project") });
const gates = useGates();
let world: AuthWorld;
beforeAll(() => {
  world = new AuthWorld(server.url, gates);
});

const WRONG: readonly [string, Record<string, string>][] = [
  ["no credentials", {}],
  ["a wrong token", { authorization: "Bearer token-of-eve" }],
  ["an API key", { "x-api-key": "token-of-ada" }],
  ["another scheme", { "x-auth-scheme": "somebody" }],
];

const operations: string[] = [];
const register = ({ method, path }: Operation): void => void operations.push(`${method} ${pathTemplate(path)}`);
// Nothing is called but the registration itself.
registerRoutes(register as never, { http: {} } as never);

/** Sends a request; of a stream it reads the beginning. */
async function send(name: string, asked: Asked, headers: Record<string, string>): Promise<Answer> {
  const [method = "", path = ""] = name.split(" ");
  const { at = {}, query = "", body } = asked;
  const address = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(at[parameter]!)) + query;
  const sent = { headers: { ...asked.headers, ...headers }, ...(body === undefined ? {} : { body }) };
  return glance(server.url, method, address, sent);
}

test("every operation has a row, and every row an operation", () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(operations.toSorted());
});

describe.each(operations)("%s", (name) => {
  const row = ROWS[name]!;

  test("is for its owner alone", async () => {
    const asked = await row.ask(world);
    const before = await world.picture(asked.threads ?? []);
    for (const [what, headers] of WRONG) {
      const answer = await send(name, asked, headers);
      expect([what, answer.status]).toEqual([what, row.nobody ?? 401]);
      if (answer.status !== 401) continue;
      expect(answer.json).toEqual({ detail: "Who are you?" });
      expect(answer.headers["www-authenticate"]).toContain("Bearer");
    }
    const others = await send(name, asked, BOB);
    if (typeof row.other === "number") expect([others.status, others.text]).toEqual([row.other, others.text]);
    else row.other(others, asked);
    for (const secret of asked.hides ?? []) expect(others.text).not.toContain(secret);
    expect(others.text).not.toContain("canary");
    expect(await world.picture(asked.threads ?? [])).toEqual(before);
    if (asked.gate !== undefined) gates.open(asked.gate);
    const own = await send(name, asked, ADA);
    expect([own.status, own.status === row.owner ? "" : own.text]).toEqual([row.owner, ""]);
    for (const secret of asked.hides ?? []) expect(own.text).toContain(secret);
    expect(own.text).not.toContain("canary");
  });
});

test("what is no operation is not told to those who may not come in", async () => {
  for (const path of ["/nowhere", "/threads/", "/ok/more", "//ok", "/OK", "/ok%2f..", "/thread/x"]) {
    const nobody = await send(`GET ${path}`, {}, {});
    expect([path, nobody.status]).toEqual([path, 401]);
    const somebody = await send(`GET ${path}`, {}, BOB);
    expect([path, somebody.status]).toEqual([path, 404]);
  }
});
