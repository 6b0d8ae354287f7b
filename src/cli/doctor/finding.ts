// What the checks of `doctor` are given and what they give back.
import type { ProjectConfig } from "../../config/types.ts";
import type { Io } from "../io.ts";

/** How bad it is: a server cannot start or loses data, something is odd, all is well. */
export type Level = "fail" | "warn" | "ok";

/** One line of the report. */
export interface Finding {
  readonly check: "node" | "config" | "packages" | "port" | "data" | "disk" | "clock" | "files";
  readonly level: Level;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** What is looked at. */
export interface Patient {
  readonly io: Pick<Io, "cwd" | "env" | "now">;
  /** Absolute folder of the project. */
  readonly root: string;
  /** Null when there is no config, or none that can be read. */
  readonly project: ProjectConfig | null;
  /** Absolute path of the data folder; null when nothing is stored. */
  readonly dataDir: string | null;
  readonly port: number;
}

/** A shorter way to write findings of one check. */
export function findingsOf(check: Finding["check"]) {
  const of =
    (level: Level) =>
    (message: string, hint?: string): Finding => ({ check, level, message, ...(hint === undefined ? {} : { hint }) });
  return { ok: of("ok"), warn: of("warn"), fail: of("fail") };
}
