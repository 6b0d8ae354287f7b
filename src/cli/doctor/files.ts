// Files with secrets that everybody on this machine may read.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parseEnvFile } from "../../config/env-file.ts";
import { shellQuote } from "../text.ts";
import { findingsOf, type Finding, type Patient } from "./finding.ts";

/** Others may read. */
const WORLD_READABLE = 0o004;
const EXAMPLES = /\.(?:example|sample|template|dist)$/;

/** Looks at the env files of the project. */
export function checkFiles({ root, project, io }: Patient): Finding[] {
  const { ok, warn } = findingsOf("files");
  // Windows has no such bits.
  if (process.platform === "win32") return [];
  const files = new Set([...envFilesIn(root), ...(project?.envFile ? [project.envFile] : [])]);
  const open = [...files].filter((file) => isOpen(file) && hasVariables(file));
  if (open.length === 0) return [ok(files.size === 0 ? "no env files" : "env files are private or without values")];
  return open.map((file) => {
    const path = relative(io.cwd, file);
    return warn(`everyone on this machine may read ${path}`, `chmod 600 ${shellQuote(path)}`);
  });
}

function envFilesIn(folder: string): string[] {
  const names = readdirSync(folder).filter(
    (name) => name === ".env" || (name.startsWith(".env.") && !EXAMPLES.test(name)),
  );
  return names.map((name) => join(folder, name));
}

function isOpen(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && found.isFile() && (found.mode & WORLD_READABLE) !== 0;
}

/** A template that nobody has filled in is no secret. */
function hasVariables(file: string): boolean {
  return Object.values(parseEnvFile(readFileSync(file, "utf8")).variables).some((value) => value !== "");
}
