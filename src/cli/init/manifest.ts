// The package.json of a new project, and what an existing one lacks to run a template.

/** A package.json as far as we look at it. */
export type Manifest = Record<string, unknown> & {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

/** The template's manifest under the name of its folder, with this version of agent-server. */
export function newManifest(template: Manifest, folder: string, version: string): Manifest {
  return { ...template, name: packageName(folder), devDependencies: devDependencies(template, version) };
}

/** Adds the dependencies and scripts that are missing; changes nothing that is there. `added` names them. */
export function completeManifest(
  existing: Manifest,
  template: Manifest,
  version: string,
): { manifest: Manifest; added: string[] } {
  const installed = { ...existing.dependencies, ...existing.devDependencies };
  const dependencies = missing(template.dependencies, installed);
  const developing = missing(devDependencies(template, version), installed);
  const scripts = missing(template.scripts, existing.scripts);
  const added = [
    ...Object.keys(dependencies),
    ...Object.keys(developing),
    ...Object.keys(scripts).map((name) => `script ${name}`),
  ];
  const manifest: Record<string, unknown> = { ...existing };
  for (const [key, more] of Object.entries({ scripts, dependencies, devDependencies: developing })) {
    if (Object.keys(more).length > 0) manifest[key] = { ...(existing[key] as object | undefined), ...more };
  }
  return { manifest, added };
}

function devDependencies(template: Manifest, version: string): Record<string, string> {
  return { ...template.devDependencies, "agent-server": `^${version}` };
}

function missing(
  wanted: Readonly<Record<string, string>> = {},
  present: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !(name in present)));
}

/** A folder's name as npm takes it. */
export function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  return name === "" ? "my-agent" : name.slice(0, 214);
}
