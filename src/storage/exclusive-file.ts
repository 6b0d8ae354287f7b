// A file that only one of several starting processes can put into place, even when each of them finds the file of a dead process
// there. It is linked into place, which fails when there is one. To replace a dead one, a process first links its own file at
// `<file>.after-<hash of the dead one>`, a name that only one can get, and then renames it over `<file>`; should it die between the
// two, its own file is the dead one that the next process continues from.

import { createHash } from "node:crypto";
import { constants, copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync } from "node:fs";

/** What file systems without hard links answer; there, the file may be seen before it is complete. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** A round fails only when another process got further meanwhile, or on a link that leads nowhere. */
const MAX_ROUNDS = 1000;

/**
 * Puts the complete file `temporary` (beside `file`, on the same file system) into place as `file`.
 * @param refuse is called with the path of each file that stands in the way; it throws when that one is in use.
 * @throws Error as `refuse` does, or of the file system.
 */
export function placeExclusively(temporary: string, file: string, refuse: (path: string) => void): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (linkNew(temporary, file)) return;
    const first = fingerprint(file);
    const claims = chain(file);
    for (const claim of claims) refuse(claim);
    const last = claims.at(-1);
    if (first === undefined || last === undefined) continue;
    const mine = successor(file, last);
    if (mine === undefined || !linkNew(temporary, mine)) continue;
    if (fingerprint(file) === first) {
      renameSync(mine, file);
      for (const leftover of claims.slice(1)) rmSync(leftover, { force: true });
      return;
    }
    // Another process finished meanwhile, and removed the names that would have stopped this one.
    rmSync(mine, { force: true });
  }
  throw new Error(`${file} is neither there nor absent`);
}

/** The existing claims, each made to replace the one before it. */
function chain(file: string): string[] {
  const claims: string[] = [];
  let next: string | undefined = file;
  while (next !== undefined && existsSync(next)) {
    claims.push(next);
    next = successor(file, next);
  }
  return claims;
}

/** The name under which the claim at `claim` is replaced; undefined when that is gone. */
function successor(file: string, claim: string): string | undefined {
  const print = fingerprint(claim);
  return print === undefined ? undefined : `${file}.after-${print}`;
}

/** Distinguishes claims by what they say, so that a damaged one counts, too. */
function fingerprint(file: string): string | undefined {
  const text = readText(file);
  return text === undefined ? undefined : createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Makes `to` a second name of `from`, complete from the first moment; false when there is a `to` already. */
function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.has(code ?? "")) throw error;
  }
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The text of a file; undefined when there is none. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
