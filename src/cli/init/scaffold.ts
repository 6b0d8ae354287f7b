// Copies a template into a folder. Nothing that exists is overwritten; a package.json that is there already gets what it lacks.
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { CliError, EXIT } from "../../errors.ts";
import { isRecord } from "../json.ts";
import type { Output } from "../output.ts";
import { packageRoot, version } from "../package.ts";
import type { Cli } from "../program.ts";
import { shellQuote } from "../text.ts";
import { completeManifest, newManifest, type Manifest } from "./manifest.ts";

/** What a developer's own try-out of a template leaves behind in a clone of this repository. */
const NOT_COPIED = new Set(["node_modules", ".agent-server", "package-lock.json"]);

/** npm leaves every `.gitignore` out of a package, so templates carry it without the dot. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: ".gitignore" };

/** Creates the project and prints what to type next. */
export async function init(cli: Cli, dir: string, template: string): Promise<void> {
  const output = await cli.output();
  const source = join(packageRoot, "templates", template);
  const target = resolve(cli.io.cwd, dir);
  const files = await listFiles(source);
  await refuseClashes(target, dir, files);

  const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as Manifest;
  const changes = await write(target, async () => {
    const added = await writeManifest(target, manifest);
    for (const { from, to } of files) {
      await mkdir(dirname(join(target, to)), { recursive: true });
      await copyFile(join(source, from), join(target, to));
    }
    return added;
  });
  const enter = target === resolve(cli.io.cwd) ? "" : `cd ${shellQuote(dir)} && `;
  output.note(`${output.err.green("created")} the ${template} template in ${target}`);
  if (changes && changes.length > 0) output.note(`added to your package.json: ${changes.join(", ")}`);
  printNext(output, enter);
}

/** Why a folder cannot be written to, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EPERM: "no permission",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a part of the path is a file",
  ENAMETOOLONG: "the path is too long",
};

/** Runs `work`. @throws CliError when the system does not let it write to the folder. */
async function write<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (error instanceof CliError || code === undefined || syscall === undefined) throw error;
    throw new CliError(`Cannot make a project in ${target}: ${FAILURES[code] ?? code}.`, {
      exitCode: EXIT.usage,
      hint: "Choose another folder: agent-server init <dir>",
      cause: error,
    });
  }
}

async function listFiles(source: string): Promise<{ from: string; to: string }[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(source, join(entry.parentPath, entry.name)))
    .filter((path) => path !== "package.json" && !path.split(sep).some((part) => NOT_COPIED.has(part)))
    .map((path) => ({ from: path, to: join(dirname(path), RENAMED[basename(path)] ?? basename(path)) }));
}

async function refuseClashes(target: string, dir: string, files: readonly { to: string }[]): Promise<void> {
  const there = await stat(target).catch(() => undefined);
  if (there && !there.isDirectory()) {
    throw new CliError(`${dir} is a file, not a folder.`, { exitCode: EXIT.usage });
  }
  const clashing = [];
  for (const { to } of files) if (await exists(join(target, to))) clashing.push(to);
  if (clashing.length === 0) return;
  throw new CliError(`${dir === "." ? "This folder" : dir} has files of these names already: ${clashing.join(", ")}.`, {
    exitCode: EXIT.usage,
    hint: "Nothing was written. Choose another folder: agent-server init <dir>",
  });
}

/** Returns what an existing package.json got; undefined when it was made. */
async function writeManifest(target: string, template: Manifest): Promise<string[] | undefined> {
  const path = join(target, "package.json");
  await mkdir(target, { recursive: true });
  if (!(await exists(path))) {
    await writeFile(path, `${JSON.stringify(newManifest(template, basename(target), version), null, 2)}\n`);
    return undefined;
  }
  const text = await readFile(path, "utf8");
  const { manifest, added } = completeManifest(parseManifest(text, path), template, version);
  if (added.length > 0) await writeFile(path, `${JSON.stringify(manifest, null, /^[\t ]+/m.exec(text)?.[0] ?? 2)}\n`);
  return added;
}

function parseManifest(text: string, path: string): Manifest {
  let reason = "is not a JSON object";
  try {
    const manifest: unknown = JSON.parse(text);
    if (isRecord(manifest)) return manifest as Manifest;
  } catch (error) {
    reason = `is not valid JSON: ${(error as Error).message}`;
  }
  throw new CliError(`${path} ${reason}.`, {
    exitCode: EXIT.usage,
    hint: "Nothing was written. Repair it and run the command again.",
  });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function printNext({ note, err }: Output, enter: string): void {
  note("\nNext:");
  note(`  ${err.cyan(`${enter}npm install`)}`);
  note(`  ${err.cyan("npm run dev")}`);
  note(`  ${err.cyan('npx agent-server invoke "hello"')}   in a second terminal, in the same folder`);
}
