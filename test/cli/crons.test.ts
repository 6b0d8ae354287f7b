// `agent-server crons` against a real server, as a person uses it.
import { expect, it } from "vitest";
import { useServer } from "../e2e/support/server.ts";
import { finish, type TestProcess } from "./helpers/io.ts";

const terminal: TestProcess = { tty: true, env: { NO_COLOR: "1" } };
const server = useServer();

const crons = (args: readonly string[], options: TestProcess = terminal): ReturnType<typeof finish> =>
  finish(["crons", ...args, "--url", server.url], options);

it("creates, lists, runs, pauses, resumes and deletes", async () => {
  const created = await crons([
    "create",
    "0 9 * * 1-5",
    "good morning",
    "-a",
    "echo",
    "--timezone",
    "Europe/Zurich",
    "--keep",
  ]);
  expect(created.code).toBe(0);
  const id = created.stdout.trim();
  expect(created.stderr).toContain(`try it: agent-server crons run-now ${id}`);

  const listed = await crons(["ls"]);
  expect(listed.stdout).toMatch(/^CRON +SCHEDULE +ZONE +NEXT +THREAD\n/);
  expect(listed.stdout).toMatch(new RegExp(`${id}  0 9 \\* \\* 1-5  Europe/Zurich  20\\d\\d-.*\\+00:00  a new one\n`));

  const ran = await crons(["run-now", id, "--json"]);
  const run = JSON.parse(ran.stdout) as { run_id: string; thread_id: string };
  await server.client.runs.join(run.thread_id, run.run_id);
  const { values } = await server.client.threads.getState<{ messages: { content: string }[] }>(run.thread_id);
  expect(values.messages[0]!.content).toBe("good morning");

  expect((await crons(["pause", id])).stderr).toBe("Paused.\n");
  expect((await crons(["ls"])).stdout).toContain("  paused  ");
  expect((await crons(["resume", id])).stderr).toMatch(/^Next: 20\d\d-/);
  expect((await crons(["rm", id])).stderr).toBe("Deleted.\n");
  expect((await crons(["ls"])).stderr).toBe("No crons.\n");
});

it("makes one on a thread, with input, settings and an end", async () => {
  const { thread_id: thread } = await server.client.threads.create();
  const args = [
    "create",
    "*/5 * * * *",
    "-a",
    "echo",
    "-t",
    thread,
    "--input",
    '{"messages":[]}',
    "--end-time",
    "2099-01-01",
  ];
  const { stdout } = await crons([...args, "--configurable", "tone=dry", "--webhook", "http://localhost:1/"], {});
  const cron = JSON.parse(stdout) as { cron_id: string };
  expect(cron).toMatchObject({
    thread_id: thread,
    end_time: "2099-01-01T00:00:00.000+00:00",
    payload: { input: { messages: [] }, config: { configurable: { tone: "dry" } }, webhook: "http://localhost:1/" },
  });
  expect((await crons(["rm", cron.cron_id])).code).toBe(0);
});

it("says what is wrong in one sentence", async () => {
  const seconds = await crons(["create", "* * * * * *", "hi", "-a", "echo"]);
  expect(seconds.code).toBe(1);
  expect(seconds.stderr).toContain("there is no field for seconds (HTTP 422)");
  const unknown = await crons(["rm", "00000000-0000-4000-8000-000000000000"]);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain("not found (HTTP 404)");
  const both = await crons(["create", "* * * * *", "hi", "-t", "x", "--keep"]);
  expect(both.code).toBe(2);
});
