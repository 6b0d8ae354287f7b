// Node and packages: whether this Node runs them, whether they fit together, and whether there is one LangGraph only.
import { dirname, join, relative } from "node:path";
import { installCommand, TESTED_VERSIONS } from "../../graphs/install.ts";
import { isRecord } from "../json.ts";
import { packageRoot, version } from "../package.ts";
import { findingsOf, type Finding, type Patient } from "./finding.ts";
import { copiesOf, findInstalled, packageOf, type Installed } from "./installed.ts";
import { satisfies } from "./ranges.ts";

const LANGGRAPH = "@langchain/langgraph";
/** Of these a second copy breaks things: its messages and commands are strangers to the first. */
const ONE_COPY = [LANGGRAPH, "@langchain/core", "@langchain/langgraph-checkpoint"];
/** Our own dependencies that are choosier about Node than we are. */
const CHOOSY = ["vite", "h3"];

/** Looks at the version of Node. */
export function checkNode({ root }: Patient, running = process.versions.node): Finding[] {
  const { ok, warn, fail } = findingsOf("node");
  const own = packageOf(packageRoot);
  const project = packageOf(root);
  const wanting = [
    ...[own, ...CHOOSY.map((name) => findInstalled(name, packageRoot))].map((found) => ({ found, report: fail })),
    { found: project?.folder === own?.folder ? null : project, report: warn },
  ];
  const refusals = wanting.flatMap(({ found, report }) => {
    const engines = found?.manifest["engines"];
    const range = isRecord(engines) ? engines["node"] : undefined;
    if (typeof range !== "string" || satisfies(running, range) !== false) return [];
    const name = found === project ? "this project" : `${found?.name}`;
    return [
      report(`Node ${running}: ${name} needs ${range}`, "Install another Node, such as the newest with long support."),
    ];
  });
  return refusals.length > 0 ? refusals : [ok(`Node ${running}`)];
}

/** Looks at the packages that the project resolves. */
export function checkPackages({ root, project }: Patient): Finding[] {
  const { ok, warn, fail } = findingsOf("packages");
  const folders = [root, ...new Set(project?.graphs.map(({ file }) => dirname(file)))];
  // Without a config the demo runs, on what this package itself finds.
  const places = project === null ? [...folders, packageRoot] : folders;
  const find = (name: string, from: readonly string[]): Installed | null => {
    for (const place of from) {
      const found = findInstalled(name, place);
      if (found) return found;
    }
    return null;
  };
  const langgraph = find(LANGGRAPH, places);
  if (!langgraph)
    return [fail(`${LANGGRAPH} is not installed in ${root}`, installCommand(root, Object.keys(TESTED_VERSIONS)))];
  // Under pnpm only what the project itself names lies at its root; the rest is beside LangGraph.
  const found = Object.keys(TESTED_VERSIONS).map((name) => [name, find(name, [...places, langgraph.folder])] as const);
  const installed = found.flatMap(([, each]) => (each ? [each] : []));
  const missing = found.filter(([, each]) => !each).map(([name]) => name);
  const findings = [
    ...missing.map((name) => fail(`${name} is not installed in ${root}`, installCommand(root, [name]))),
    ...mismatches(packageOf(packageRoot), installed).map((text) =>
      fail(text, installCommand(root, Object.keys(TESTED_VERSIONS))),
    ),
    ...mismatches(langgraph, installed).map((text) => warn(text, installCommand(root, Object.keys(TESTED_VERSIONS)))),
    ...secondCopies(folders, root).map((text) => warn(text, "npm ls and npm dedupe show and repair it.")),
    ...otherServer(root).map((text) => warn(text, "Run the project's own with: npx agent-server")),
  ];
  if (findings.length > 0) return findings;
  return [ok([`agent-server ${version}`, ...installed.map((each) => `${each.name} ${each.version}`)].join(", "))];
}

/** What `wanting` says about its peers that is not so. */
function mismatches(wanting: Installed | null, installed: readonly Installed[]): string[] {
  const peers = wanting?.manifest["peerDependencies"];
  return Object.entries(isRecord(peers) ? peers : {}).flatMap(([name, range]) => {
    const peer = installed.find((each) => each.name === name);
    if (!peer || typeof range !== "string" || satisfies(peer.version, range) !== false) return [];
    return [`${wanting?.name} ${wanting?.version} needs ${name} ${range}, and ${peer.version} is installed`];
  });
}

function secondCopies(folders: readonly string[], root: string): string[] {
  // What this package has for its own tests is none of the project's.
  const copies = copiesOf(ONE_COPY, folders, ["agent-server"]);
  return ONE_COPY.flatMap((name) => {
    const same = copies.filter((copy) => copy.name === name);
    if (same.length < 2) return [];
    const listed = same.map(({ version: each, folder, via }) => {
      const through = via.length > 0 ? `, through ${via.join(" > ")}` : "";
      return `${each} (${relative(root, folder) || folder}${through})`;
    });
    return [`${same.length} copies of ${name} are reached: ${listed.join("; ")}`];
  });
}

function otherServer(root: string): string[] {
  const local = findInstalled("agent-server", root);
  const own = packageOf(packageRoot);
  if (!local || !own || local.folder === own.folder || local.version === own.version) return [];
  return [`This is agent-server ${version} (${join(packageRoot)}), and the project has ${local.version}`];
}
