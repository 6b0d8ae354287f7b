// The data folder: whether it can be used, who uses it, whether what is in it is whole, and whether the clock agrees with it.
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { inspectDatabase, folderBytes, type Inspected } from "../../storage/inspect.ts";
import { readOwner } from "../../storage/instance.ts";
import { bytes, count } from "../text.ts";
import { findingsOf, type Finding, type Patient } from "./finding.ts";

/** Bytes of free space below which things are odd, or fail. */
const LITTLE_SPACE = 1e9;
const NO_SPACE = 1e8;
/** Before it this program did not exist. */
const FIRST_DAY = Date.parse("2026-01-01T00:00:00Z");
/** Milliseconds that stored times may be ahead: they are counted up when many fall into one instant. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Looks at the data folder, the disk that it is on, and the clock. */
export async function checkData(patient: Patient): Promise<Finding[]> {
  const { dataDir } = patient;
  const { ok } = findingsOf("data");
  if (dataDir === null) return [ok("nothing is stored (disable_persistence)"), ...checkClock(patient, null)];
  const unusable = whyUnusable(dataDir);
  if (unusable) return [unusable, ...checkClock(patient, null)];
  const { findings, newest } = existsSync(dataDir)
    ? await checkContents(dataDir, patient.io.cwd)
    : { findings: [ok(`${shown(dataDir, patient.io.cwd)} is made by the first dev`)], newest: null };
  return [...findings, checkDisk(dataDir), ...checkClock(patient, newest)];
}

function whyUnusable(dataDir: string): Finding | undefined {
  const { fail } = findingsOf("data");
  let existing = dataDir;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const hint = "Make it writable, or choose another one with --data-dir.";
  if (!statSync(existing).isDirectory()) return fail(`${existing} is a file; the data folder cannot be there`, hint);
  try {
    accessSync(existing, constants.W_OK | constants.R_OK | constants.X_OK);
    return undefined;
  } catch {
    return fail(`No permission to write to ${existing}`, hint);
  }
}

async function checkContents(dataDir: string, cwd: string): Promise<{ findings: Finding[]; newest: number | null }> {
  const { ok, warn, fail } = findingsOf("data");
  const place = `${shown(dataDir, cwd)}, ${bytes(folderBytes(dataDir))}`;
  const owner = readOwner(dataDir);
  const aside = readdirSync(dataDir).filter((name) => name.startsWith("damaged-"));
  const leftovers = aside.map((name) =>
    warn(`${join(shown(dataDir, cwd), name)} was damaged and moved aside`, "Delete it when you do not need it."),
  );
  if (owner?.isRunning) {
    const where = owner.url === null ? "does not listen yet" : owner.url;
    return { findings: [ok(`${place}; used by process ${owner.pid} (${where})`), ...leftovers], newest: null };
  }
  const stale = owner
    ? [
        warn(
          `${join(shown(dataDir, cwd), "server.json")} is of process ${owner.pid}, which is gone`,
          "The next dev takes it over.",
        ),
      ]
    : [];
  let inspected: Inspected | null;
  try {
    inspected = await inspectDatabase(dataDir);
  } catch (error) {
    const message = `${place}; it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { findings: [fail(message), ...stale, ...leftovers], newest: null };
  }
  return { findings: [describe(place, inspected), ...stale, ...leftovers], newest: inspected?.newest ?? null };
}

function describe(place: string, inspected: Inspected | null): Finding {
  const { ok, fail } = findingsOf("data");
  if (inspected === null) return ok(`${place}; empty`);
  const { damage, format, knownFormat, threads } = inspected;
  if (damage !== null) {
    const hint =
      "The next dev moves it aside and begins anew. Make a copy of the folder first, if you need what is in it.";
    return fail(`${place}; it is damaged: ${damage}`, hint);
  }
  if (Number(format) > knownFormat) {
    const message = `${place}; a newer agent-server has written it (format ${format}, this one reads ${knownFormat})`;
    return fail(message, "npm install agent-server@latest");
  }
  return ok(`${place}; whole, ${count(threads, "thread")}`);
}

function checkDisk(dataDir: string): Finding {
  const { ok, warn, fail } = findingsOf("disk");
  let existing = dataDir;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const level = free < NO_SPACE ? fail : free < LITTLE_SPACE ? warn : ok;
  return level(`${bytes(free)} free`, free < LITTLE_SPACE ? "Make room: what cannot be stored is lost." : undefined);
}

function checkClock({ io }: Patient, newest: number | null): Finding[] {
  const { ok, warn, fail } = findingsOf("clock");
  const now = io.now();
  const time = new Date(now).toISOString().slice(0, 19);
  const hint = "Set the clock of this machine.";
  if (now < FIRST_DAY) return [fail(`it is ${time}Z by this machine, which cannot be`, hint)];
  if (newest !== null && newest > now + CLOCK_TOLERANCE_MS) {
    const ahead = `the newest thread was changed at ${new Date(newest).toISOString().slice(0, 19)}Z`;
    return [warn(`it is ${time}Z by this machine, and ${ahead}`, hint)];
  }
  // Undefined for a name in TZ that nobody knows, against its type.
  const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone === undefined)
    return [warn("the time zone that TZ names is not known; UTC is used", "Set TZ to a name such as Europe/Zurich.")];
  return [ok(`${time}Z, time zone ${zone}`)];
}

function shown(folder: string, cwd: string): string {
  const path = relative(cwd, folder);
  return path === "" || path.startsWith("..") ? folder : path;
}
