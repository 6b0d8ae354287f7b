import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FileWatcher, type OnChange } from "../../src/graphs/watch.ts";
import { project } from "./project.ts";

function watchFiles(paths: readonly string[], onChange: OnChange): FileWatcher {
  const watcher = new FileWatcher(onChange);
  watcher.set(paths);
  return watcher;
}

/** A change listener whose calls can be awaited one by one. */
function changes(): {
  onChange: (paths: readonly string[]) => void;
  next(): Promise<readonly string[]>;
  calls: (readonly string[])[];
} {
  const calls: (readonly string[])[] = [];
  let read = 0;
  let wake = (): void => {};
  return {
    calls,
    onChange(paths) {
      calls.push(paths);
      wake();
    },
    async next() {
      while (calls.length <= read) {
        // oxlint-disable-next-line no-await-in-loop -- one call after the other
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return calls[read++] ?? [];
    },
  };
}

test("tells of a write, a save by rename, a deletion and a creation", async () => {
  const files = project({ "a.json": "1" }, { modules: false });
  const told = changes();
  const watching = watchFiles([files.path("a.json")], told.onChange);
  try {
    files.write("a.json", "22");
    expect(await told.next()).toEqual([files.path("a.json")]);
    files.save("a.json", "333");
    expect(await told.next()).toEqual([files.path("a.json")]);
    rmSync(files.path("a.json"));
    expect(await told.next()).toEqual([files.path("a.json")]);
    files.write("a.json", "4444");
    expect(await told.next()).toEqual([files.path("a.json")]);
  } finally {
    watching.close();
  }
});

test("several saves in a row are one change", async () => {
  const files = project({ a: "1", b: "1" }, { modules: false });
  const told = changes();
  const watching = watchFiles([files.path("a"), files.path("b")], told.onChange);
  try {
    for (let n = 0; n < 5; n++) files.save("a", "x".repeat(n));
    files.write("b", "changed");
    expect((await told.next()).toSorted()).toEqual([files.path("a"), files.path("b")]);
    files.write("b", "again");
    expect(await told.next()).toEqual([files.path("b")]);
    expect(told.calls).toHaveLength(2);
  } finally {
    watching.close();
  }
});

test("a neighbour and an untouched file are no change", async () => {
  const files = project({ a: "1", b: "1" }, { modules: false });
  const told = changes();
  const watching = watchFiles([files.path("a"), files.path("b")], told.onChange);
  try {
    files.write("neighbour", "1");
    renameSync(files.path("b"), files.path("c"));
    renameSync(files.path("c"), files.path("b"));
    files.write("a", "22");
    expect(await told.next()).toEqual([files.path("a")]);
  } finally {
    watching.close();
  }
});

test("a file that a link points to is watched", async () => {
  const files = project({ "shared/.env": "A=1" }, { modules: false });
  symlinkSync(files.path("shared/.env"), files.path(".env"));
  const told = changes();
  const watching = watchFiles([files.path(".env")], told.onChange);
  try {
    writeFileSync(files.path("shared/.env"), "A=22");
    expect(await told.next()).toEqual([files.path(".env")]);
  } finally {
    watching.close();
  }
});

test("no longer tells of paths that were taken off, nor after close", async () => {
  const files = project({ a: "1", b: "1" }, { modules: false });
  const told = changes();
  const other = changes();
  const watcher = new FileWatcher(told.onChange);
  const control = watchFiles([files.path("a"), files.path("b")], other.onChange);
  try {
    watcher.set([files.path("a"), files.path("b")]);
    watcher.set([files.path("b")]);
    files.write("a", "22");
    expect(await other.next()).toEqual([files.path("a")]);
    files.write("b", "22");
    expect(await told.next()).toEqual([files.path("b")]);
    await other.next();
    watcher.close();
    watcher.set([files.path("a")]);
    files.write("b", "333");
    await other.next();
    expect(told.calls).toEqual([[files.path("b")]]);
  } finally {
    watcher.close();
    control.close();
  }
});
