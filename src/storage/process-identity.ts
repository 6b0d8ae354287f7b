// Tells whether the process that wrote a record still runs. A pid alone does not: the system gives it to another process later,
// in a container as soon as the next start.

import { readFileSync } from "node:fs";

/** What identifies a process as long as it lives. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot id and start time in clock ticks, on Linux; null elsewhere. */
  readonly process_start: string | null;
}

/** The identity of this process. */
export function currentProcess(): ProcessIdentity {
  return { pid: process.pid, process_start: inspect(process.pid)?.start ?? null };
}

/** Whether that very process runs; where its start time is unknown, whether any process has its pid. */
export function isRunning({ pid, process_start }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const found = inspect(pid);
  if (found === undefined) return true;
  return !found.ended && (process_start === null || process_start === found.start);
}

/** What /proc tells; undefined where there is none, or where it hides the processes of others. */
function inspect(pid: number): { ended: boolean; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the command in parentheses and may hold anything, even `)`. After it come the state and, 19 on, the start.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    // A killed process stays as a zombie until its parent notices, which in a container may be never.
    return { ended: fields[0] === "Z" || fields[0] === "X", start: `${boot}:${fields[19]}` };
  } catch {
    return undefined;
  }
}
