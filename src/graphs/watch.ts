// Watches single files by watching their folders: editors save by renaming a new file over the old one, which ends a watch on the file
// itself, and a file that does not exist yet can only be seen from its folder. Nothing else of the tree is looked at.
import { existsSync, realpathSync, statSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

/** Editors save twice in a row, and format in between. */
const DEBOUNCE_MS = 50;

interface Folder {
  readonly watcher: FSWatcher;
  readonly inode: number;
  /** Watched paths by the name that an event in this folder bears. */
  readonly names: Map<string, Set<string>>;
}

/** Called with the paths that changed, appeared or vanished. */
export type OnChange = (paths: readonly string[]) => void;

/** Watches a set of files that may change and may not exist. */
export class FileWatcher {
  readonly #onChange: OnChange;
  readonly #onError: (error: Error) => void;
  readonly #signatures = new Map<string, string>();
  readonly #folders = new Map<string, Folder>();
  readonly #dirty = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(onChange: OnChange, onError: (error: Error) => void = () => {}) {
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /**
   * Replaces the watched paths.
   * @param since Milliseconds since 1970: a new path that changed later is reported at once, as it may have been read before.
   */
  set(paths: Iterable<string>, since = Infinity): void {
    if (this.#closed) return;
    const wanted = new Set(paths);
    for (const path of this.#signatures.keys()) if (!wanted.has(path)) this.#signatures.delete(path);
    for (const path of wanted) {
      if (this.#signatures.has(path)) continue;
      const { signature, changed } = look(path);
      this.#signatures.set(path, changed > since ? "unknown" : signature);
      if (changed > since) this.#touch([path]);
    }
    this.#watchFolders();
  }

  /** Ends all watching; no call follows. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #touch(paths: Iterable<string>): void {
    for (const path of paths) this.#dirty.add(path);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), DEBOUNCE_MS);
  }

  #check(): void {
    const changed: string[] = [];
    const vanished: string[] = [];
    for (const path of this.#dirty) {
      const before = this.#signatures.get(path);
      const { signature } = look(path);
      if (before === undefined || before === signature) continue;
      // A save by rename leaves a moment without the file: a first sight of it missing is looked at again.
      const gone = signature === MISSING && before !== VANISHED;
      this.#signatures.set(path, gone ? VANISHED : signature);
      (gone ? vanished : changed).push(path);
    }
    this.#dirty.clear();
    this.#watchFolders();
    if (vanished.length > 0) this.#touch(vanished);
    if (changed.length > 0) this.#onChange(changed);
  }

  #watchFolders(): void {
    const wanted = new Map<string, Map<string, Set<string>>>();
    for (const path of this.#signatures.keys()) {
      for (const place of new Set([path, realPath(path)])) {
        const folder = nearestFolder(dirname(place));
        const name = relative(folder, place).split(sep, 1)[0] ?? "";
        const names = getOrAdd(wanted, folder, () => new Map<string, Set<string>>());
        getOrAdd(names, name, () => new Set<string>()).add(path);
      }
    }
    for (const [folder, { watcher, inode }] of this.#folders) {
      if (wanted.has(folder) && inodeOf(folder) === inode) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, names] of wanted) {
      const open = this.#folders.get(folder);
      if (!open) this.#open(folder, names);
      else {
        open.names.clear();
        for (const [name, paths] of names) open.names.set(name, paths);
      }
    }
  }

  #open(folder: string, names: Map<string, Set<string>>): void {
    const onEvent = (name: string | null): void => {
      // An event about the folder itself bears its own name; then anything in it may have changed.
      const paths =
        name === null || name === basename(folder) ? [...names.values()].flatMap((each) => [...each]) : names.get(name);
      if (paths) this.#touch(paths);
    };
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => onEvent(name));
      watcher.on("error", () => onEvent(null));
      this.#folders.set(folder, { watcher, inode: inodeOf(folder), names });
      // What happened between the last look and the start of the watch would go unseen.
      onEvent(null);
    } catch (error) {
      this.#onError(new Error(`Cannot watch ${folder}: ${(error as Error).message}`, { cause: error }));
    }
  }
}

const MISSING = "missing";
const VANISHED = "vanished";

function look(path: string): { signature: string; changed: number } {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return { signature: `${ino} ${size} ${mtimeMs}`, changed: mtimeMs };
  } catch {
    return { signature: MISSING, changed: -Infinity };
  }
}

function inodeOf(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? -1;
}

function nearestFolder(folder: string): string {
  let current = folder;
  while (!existsSync(current) && dirname(current) !== current) current = dirname(current);
  return current;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Not there yet: its folder may still be a link.
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
