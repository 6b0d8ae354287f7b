// What `doctor` looks at and prints.
import { dirname, join, resolve } from "node:path";
import { findConfig } from "../../config/find.ts";
import { inspectConfig, inspectProject } from "../../config/load.ts";
import type { ProjectConfig } from "../../config/types.ts";
import { CliError, EXIT } from "../../errors.ts";
import { demoProject } from "../../server/demo.ts";
import type { DoctorFlags } from "../commands/doctor.ts";
import { STATE_FOLDER } from "../discover.ts";
import type { Output } from "../output.ts";
import type { Cli } from "../program.ts";
import { count, oneLine } from "../text.ts";
import { checkData } from "./data.ts";
import { checkFiles } from "./files.ts";
import { findingsOf, type Finding, type Patient } from "./finding.ts";
import { checkNode, checkPackages } from "./packages.ts";
import { checkPort } from "./port.ts";

/** Looks at the machine and the project. */
export async function doctor(cli: Cli, flags: DoctorFlags): Promise<void> {
  const { io } = cli;
  const output = await cli.output(flags);
  const file = await findConfig({ config: flags.config, cwd: io.cwd });
  const { finding, project } = await checkConfig(file, cli);
  const root = file === null ? io.cwd : dirname(file);
  const dataDir = flags.dataDir === undefined ? join(root, STATE_FOLDER) : resolve(io.cwd, flags.dataDir);
  const patient: Patient = {
    io,
    root,
    project,
    dataDir: project?.persist === false ? null : dataDir,
    port: flags.port,
  };
  const findings = [
    ...checkNode(patient),
    finding,
    ...checkPackages(patient),
    ...(await checkPort(patient)),
    ...(await checkData(patient)),
    ...checkFiles(patient),
  ];
  const isWell = !findings.some(({ level }) => level === "fail");
  cli.exitCode = isWell ? EXIT.ok : EXIT.failed;
  if (flags.json === true) output.document({ ok: isWell, findings });
  else print(output, findings, flags.quiet === true);
}

async function checkConfig(
  file: string | null,
  cli: Cli,
): Promise<{ finding: Finding; project: ProjectConfig | null }> {
  const { ok, fail } = findingsOf("config");
  const { cwd, env } = cli.io;
  try {
    const inspection =
      file === null
        ? await inspectProject({ cwd, processEnv: env, fallback: demoProject(cwd) })
        : await inspectConfig(file, env);
    if (inspection === null) return { finding: ok("none here: dev would serve the demo agent"), project: null };
    const { project, diagnostics } = inspection;
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const graphs = project.demo ? "the demo agent" : count(project.graphs.length, "graph");
    const finding =
      errors === 0
        ? ok(file === null ? `none here: dev would serve ${graphs}, as the environment says` : `${file}, ${graphs}`)
        : fail(`${file ?? "The environment"} has ${count(errors, "error")}`, "agent-server check shows them.");
    return { finding, project };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { finding: fail(error.message, error.hint), project: null };
  }
}

function print({ line, out }: Output, findings: readonly Finding[], quiet: boolean): void {
  const color = { ok: out.green, warn: out.yellow, fail: out.red };
  const shown = quiet ? findings.filter(({ level }) => level !== "ok") : findings;
  for (const { check, level, message, hint } of shown) {
    line(`${color[level](level.padEnd(4))}  ${check.padEnd(8)}  ${oneLine(message)}`);
    if (hint !== undefined) line(`${" ".repeat(16)}${out.dim(oneLine(hint))}`);
  }
  if (quiet) return;
  const of = (level: Finding["level"], noun: string): string[] => {
    const number = findings.filter((finding) => finding.level === level).length;
    return number === 0 ? [] : [count(number, noun)];
  };
  const parts = [...of("fail", "failure"), ...of("warn", "warning")];
  line(`\n${parts.length === 0 ? "All is well." : parts.join(", ")}`);
}
