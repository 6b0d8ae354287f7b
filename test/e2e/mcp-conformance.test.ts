// The conformance tests of the Model Context Protocol, as far as they are about servers that have tools only. They need Node 22.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useServer } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const KIT = join(ROOT, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js");
const server = useServer({ cwd: join(ROOT, "test", "fixtures", "mcp-project") });
const tooOld = Number(process.versions.node.split(".")[0]) < 22;

test
  .skipIf(tooOld)
  .each([
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ])("%s", async (scenario) => {
  const url = server.url.replace("127.0.0.1", "localhost");
  const child = spawn(process.execPath, [KIT, "server", "--url", `${url}/mcp`, "--scenario", scenario]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(code, output).toBe(0);
});
