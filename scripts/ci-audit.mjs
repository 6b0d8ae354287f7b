// Fails when a package that users of agent-server install has a known vulnerability. A registry that cannot be asked, such as a mirror, is no
// failure: it is said, because an audit that did not happen must not look like one that found nothing.
import { spawnSync } from "node:child_process";

/** Seconds that the registry may take. */
const PATIENCE = 60;

const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8", timeout: PATIENCE * 1000 });
/** @type {any} */
let report;
try {
  report = JSON.parse(stdout);
} catch {
  report = {};
}
const counts = report.metadata?.vulnerabilities;
if (counts === undefined) {
  console.log(`No audit: the registry did not answer (${report.message ?? "no report"}).`);
} else if (counts.total === 0) {
  console.log(
    `npm audit: nothing known against the ${report.metadata.dependencies?.prod ?? 0} packages that are installed.`,
  );
} else {
  for (const [name, { severity, range, via }] of Object.entries(report.vulnerabilities ?? {})) {
    const why = via.map((one) => (typeof one === "string" ? `through ${one}` : `${one.title} ${one.url}`)).join("; ");
    console.error(`${severity}: ${name} ${range}: ${why}`);
  }
  process.exitCode = 1;
}
