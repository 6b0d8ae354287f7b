// What `check` prints.
import { basename } from "node:path";
import { findConfig } from "../../config/find.ts";
import { hasPlatformEnv } from "../../config/platform-env.ts";
import { CliError, EXIT } from "../../errors.ts";
import type { CheckFlags } from "../commands/check.ts";
import { paint } from "../dev/events.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { interruptible } from "../signals.ts";
import { count } from "../text.ts";
import { checkProject, type CheckReport } from "./report.ts";

/** Checks a project and says what is wrong with it. */
export async function check(cli: Cli, flags: CheckFlags): Promise<void> {
  const { io } = cli;
  const output = await cli.output(flags);
  const file = await findConfig({ config: flags.config, cwd: io.cwd });
  // The variables of the platform can be a config of their own.
  if (file === null && !hasPlatformEnv(io.env)) {
    throw new CliError(`There is no langgraph.json, langgraph.yaml or langgraph.yml in ${io.cwd}.`, {
      exitCode: EXIT.usage,
      hint: "Name one with --config, or make one with: agent-server init",
    });
  }
  await interruptible(
    cli,
    async (signal) => {
      const report = await checkProject(file, io, flags.timeout, signal);
      cli.exitCode = report.ok ? EXIT.ok : EXIT.failed;
      // Only when it is asked for: what a pipeline of CI shows is read by people.
      if (flags.json === true) output.document(report);
      else print(output, io.cwd, report);
    },
    async () => {},
  );
}

function print({ line, out }: Output, cwd: string, { ok, file, errors, warnings, graphs }: CheckReport): void {
  for (const problem of [...errors, ...warnings]) line(`${paint(problem, out, cwd)}\n`);
  const found = [
    ...(errors.length > 0 ? [count(errors.length, "error")] : []),
    ...(warnings.length > 0 ? [count(warnings.length, "warning")] : []),
  ];
  const loaded = graphs.filter((graph) => graph.ok).length;
  const parts = [
    found.length > 0 ? found.join(", ") : "no problems",
    ...(graphs.length > 0
      ? [loaded === graphs.length ? `${count(loaded, "graph")} loaded` : `${loaded} of ${graphs.length} graphs loaded`]
      : []),
  ];
  line(`${(ok ? out.green : out.red)(file === null ? "The environment" : basename(file))}: ${parts.join("; ")}`);
}
