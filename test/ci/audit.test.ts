// The audit of CI with an npm that says what a test wants: a finding fails, silence of the registry does not, and both are told apart.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "..", "..", "scripts", "ci-audit.mjs");

/** Runs the script with an npm that prints this. */
function audit(answer: string): { code: number | null; text: string } {
  const folder = mkdtempSync(join(tmpdir(), "agent-server-audit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "answer"), answer);
  writeFileSync(join(folder, "npm"), `#!/bin/sh\necho "$@" >&2\ncat "$(dirname "$0")/answer"\nexit 1\n`);
  chmodSync(join(folder, "npm"), 0o755);
  const env = { ...process.env, NODE_OPTIONS: "", PATH: `${folder}${delimiter}${process.env["PATH"]}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], { encoding: "utf8", env });
  return { code: status, text: stdout + stderr };
}

test("nothing found", () => {
  const report = { metadata: { vulnerabilities: { total: 0 }, dependencies: { prod: 70 } } };
  expect(audit(JSON.stringify(report))).toEqual({
    code: 0,
    text: expect.stringContaining("nothing known against the 70"),
  });
});

test("something found", () => {
  const via = [{ title: "Bad things", url: "https://example.com/1" }, "other"];
  const report = {
    vulnerabilities: { thing: { severity: "high", range: "<1.2.3", via } },
    metadata: { vulnerabilities: { total: 1 } },
  };
  expect(audit(JSON.stringify(report))).toEqual({
    code: 1,
    text: "high: thing <1.2.3: Bad things https://example.com/1; through other\n",
  });
});

test.each(['{"message":"405 Method Not Allowed","error":{}}', "", "<html>"])("no answer: %j", (answer) => {
  expect(audit(answer)).toEqual({ code: 0, text: expect.stringContaining("No audit: the registry did not answer") });
});
