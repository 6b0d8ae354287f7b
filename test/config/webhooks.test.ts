// `webhooks` in the config: header templates are filled in or stop the start, with the place and without the value.
import { expect, test } from "vitest";
import { load, loadError, project } from "./project.ts";

const SECRET = `whsec_${Buffer.from("a secret of the tests").toString("base64")}`;
const config = (webhooks: object, more: object = {}): string =>
  JSON.stringify({ graphs: { agent: "./src/agent.ts:graph" }, webhooks, ...more }, null, 2);
const rootOf = (text: string): Promise<string> =>
  project({ "src/agent.ts": "export const graph = {};", "langgraph.json": text });

test("templates are filled in: several in a value, mixed with literals", async () => {
  const headers = {
    Authorization: "Bearer ${{ env.LG_WEBHOOK_TOKEN }}",
    "X-Pair": "${{env.LG_WEBHOOK_A}}-${{ env.LG_WEBHOOK_B }}",
    "X-Plain": "as it is $5 {x}",
  };
  const env = { LG_WEBHOOK_TOKEN: "s3cret", LG_WEBHOOK_A: "a", LG_WEBHOOK_B: "$&" };
  const { config: loaded, warnings } = await load(await rootOf(config({ headers })), env);
  expect(warnings).toEqual([]);
  expect(loaded.webhooks?.headers).toEqual({
    Authorization: "Bearer s3cret",
    "X-Pair": "a-$&",
    "X-Plain": "as it is $5 {x}",
  });
});

test("variables of the project count, those of the process win", async () => {
  const text = config(
    { headers: { "X-A": "${{ env.LG_WEBHOOK_A }}${{ env.LG_WEBHOOK_B }}" } },
    { env: { LG_WEBHOOK_A: "project", LG_WEBHOOK_B: "project" } },
  );
  const { config: loaded } = await load(await rootOf(text), { LG_WEBHOOK_B: "process" });
  expect(loaded.webhooks?.headers["X-A"]).toBe("projectprocess");
});

test("a missing variable stops the server and names variable, header and place", async () => {
  const { diagnostics, message, exitCode } = await loadError(
    await rootOf(config({ headers: { "X-Token": "${{ env.LG_WEBHOOK_TOKEN }}" } })),
  );
  expect(diagnostics).toMatchObject([
    {
      severity: "error",
      message: 'The webhook header "X-Token" needs the environment variable LG_WEBHOOK_TOKEN, which is not set.',
      location: { line: 7, column: 18 },
    },
  ]);
  expect(message).toContain("langgraph.json:7:18");
  expect(exitCode).toBe(2);
});

test("an empty variable is as good as none", async () => {
  const root = await rootOf(config({ headers: { "X-Token": "${{ env.LG_WEBHOOK_TOKEN }}" } }));
  const { message } = await loadError(root, { LG_WEBHOOK_TOKEN: "" });
  expect(message).toContain("LG_WEBHOOK_TOKEN, which is empty");
});

test("a variable outside the prefix stops the server, and its value is not shown", async () => {
  const root = await rootOf(config({ headers: { "X-Token": "${{ env.AWS_SECRET }}" } }));
  const { message } = await loadError(root, { AWS_SECRET: "do-not-show" });
  expect(message).toContain('names the environment variable AWS_SECRET, which does not begin with "LG_WEBHOOK_"');
  expect(message).not.toContain("do-not-show");
});

test("env_prefix replaces the prefix", async () => {
  const text = config({ env_prefix: "ACME_", headers: { "X-Token": "${{ env.ACME_TOKEN }}" } });
  const { config: loaded } = await load(await rootOf(text), { ACME_TOKEN: "x" });
  expect(loaded.webhooks?.headers).toEqual({ "X-Token": "x" });
  const other = config({ env_prefix: "ACME_", headers: { "X-Token": "${{ env.LG_WEBHOOK_TOKEN }}" } });
  expect((await loadError(await rootOf(other), { LG_WEBHOOK_TOKEN: "x" })).message).toContain('"ACME_"');
});

test.each([
  ["X-A", "${{ secrets.TOKEN }}", "has a template that is not understood: ${{ secrets.TOKEN }}"],
  ["X-A", "${{ env. }}", "has a template that is not understood"],
  ["X-A", "Bearer ${{ env.LG_WEBHOOK_T }", "has a template that is not closed"],
  ["Bad Name", "x", "cannot be a header"],
  ["__proto__", "x", "cannot be a header"],
  ["Content-Length", "1", "is set by the server itself"],
  ["webhook-signature", "1", "is set by the server itself"],
  ["X-A", "line\nbreak", "has a value with a line break"],
])("the header %s: %s is refused", async (name, value, reason) => {
  expect((await loadError(await rootOf(config({ headers: { [name]: value } })))).message).toContain(reason);
});

test("a value that a variable brings is checked, too, and not shown", async () => {
  const root = await rootOf(config({ headers: { "X-A": "${{ env.LG_WEBHOOK_A }}" } }));
  const { message } = await loadError(root, { LG_WEBHOOK_A: "secret\r\nX-Evil: 1" });
  expect(message).toContain("line break");
  expect(message).not.toContain("X-Evil");
});

test("the policy, the secret and the limits", async () => {
  const url = {
    allowed_domains: ["*.example.com"],
    allowed_ports: [443],
    require_https: true,
    max_url_length: 200,
    disable_loopback: true,
  };
  const own = { webhooks: { secret: "${{ env.LG_WEBHOOK_SECRET }}", timeout_seconds: 2, max_attempts: 3 } };
  const { config: loaded } = await load(await rootOf(config({ url }, { agent_server: own })), {
    LG_WEBHOOK_SECRET: SECRET,
  });
  expect(loaded.webhooks).toEqual({
    headers: {},
    secret: SECRET,
    secrets: [SECRET, SECRET],
    timeoutSeconds: 2,
    maxAttempts: 3,
    policy: {
      allowedDomains: ["*.example.com"],
      allowedPorts: [443],
      maxUrlLength: 200,
      requireHttps: true,
      disableLoopback: true,
    },
  });
});

test.each(["", "whsec_", "whsec_???", "whsec_eA=="])(
  "the secret %j is refused: anybody could sign with it",
  async (secret) => {
    const { message } = await loadError(await rootOf(config({}, { agent_server: { webhooks: { secret } } })));
    expect(message).toContain("The webhook secret is no key");
  },
);

test("limits out of range are refused with the place", async () => {
  const text = config({}, { agent_server: { webhooks: { max_attempts: 0 }, crons: { catch_up: "always" } } });
  const { message } = await loadError(await rootOf(text));
  expect(message).toContain('"agent_server.webhooks.max_attempts" must be');
  expect(message).toContain('"agent_server.crons.catch_up" must be');
});
