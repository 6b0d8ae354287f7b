import { describe, expect, test } from "vitest";
import { splitGraphPath } from "../../src/config/graph-path.ts";
import { configKeys } from "../../src/config/schema.ts";
import { editDistance, nearest } from "../../src/config/suggest.ts";

describe("configKeys", () => {
  const keys = configKeys();
  const effects = (effect: string) => keys.filter((row) => row.effect === effect).map(({ key }) => key);

  test("says what this version acts on", () => {
    expect(effects("not yet")).toEqual([
      "auth.allow_langsmith_api_keys",
      "checkpointer.path",
      "checkpointer.backend",
      "checkpointer.serde",
      "encryption.path",
    ]);
    expect(effects("tolerated")).toEqual([
      "$schema",
      "dependencies",
      "node_version",
      "node_loader",
      "python_version",
      "api_version",
      "_INTERNAL_docker_tag",
      "base_image",
      "image_distro",
      "pip_config_file",
      "pip_installer",
      "source.kind",
      "source.root",
      "source.package",
      "dockerfile_lines",
      "keep_pkg_tools",
      "docker_compose_file",
    ]);
    const acting = [
      "graphs",
      "env",
      "http.app",
      "http.disable_a2a",
      "auth.path",
      "store.index.dims",
      "ui",
      "webhooks.headers",
    ];
    expect(effects("acts")).toEqual(expect.arrayContaining(acting));
  });

  test("has every key of the contract, each once and described in one line", () => {
    const names = keys.map(({ key }) => key);
    expect(new Set(names).size).toBe(names.length);
    // wire-api §5.1; a group counts when a key of it is there.
    const contract =
      `graphs env dependencies node_version node_loader python_version api_version _INTERNAL_docker_tag base_image
      image_distro pip_config_file pip_installer source dockerfile_lines keep_pkg_tools docker_compose_file store.index store.ttl
      checkpointer.path checkpointer.backend checkpointer.ttl checkpointer.serde auth.path auth.disable_studio_auth auth.openapi
      auth.cache auth.allow_langsmith_api_keys encryption.path http.app http.disable_assistants http.disable_threads
      http.disable_runs http.disable_store http.disable_meta http.disable_mcp http.disable_a2a http.disable_ui
      http.disable_webhooks http.cors http.configurable_headers http.logging_headers http.middleware_order
      http.enable_custom_route_auth http.mount_prefix webhooks.env_prefix webhooks.headers webhooks.url ui ui_config.shared
      disable_persistence $schema`.split(/\s+/);
    const missing = contract.filter((key) => !names.some((name) => name === key || name.startsWith(`${key}.`)));
    expect(missing).toEqual([]);
    for (const { key, description, type } of keys) {
      expect(description, key).toMatch(/^\S[^\n]*\.$/);
      expect(type, key).not.toBe("");
    }
  });
});

describe("splitGraphPath", () => {
  test.for([
    ["./src/agent.ts:graph", "./src/agent.ts", "graph"],
    ["C:\\x\\agent.ts:graph", "C:\\x\\agent.ts", "graph"],
    ["C:/x/agent.ts:graph", "C:/x/agent.ts", "graph"],
    ["C:\\x\\agent.ts", "C:\\x\\agent.ts", undefined],
    ["./a:b/agent.ts:graph", "./a:b/agent.ts", "graph"],
    ["./agent.ts", "./agent.ts", undefined],
    ["./agent.ts:", "./agent.ts", ""],
    ["a:graph", "a", "graph"],
  ] as const)("%s", ([text, file, exportName]) => {
    expect(splitGraphPath(text)).toEqual({ file, exportName });
  });
});

describe("nearest", () => {
  test("counts edits, and a swap as one", () => {
    expect(editDistance("kitten", "sitting")).toBe(3);
    expect(editDistance("grahps", "graphs")).toBe(1);
    expect(editDistance("", "abc")).toBe(3);
    expect(editDistance("abc", "")).toBe(3);
  });

  test("takes the closest, and none that is far", () => {
    expect(nearest("disable_run", ["disable_store", "disable_runs"])).toBe("disable_runs");
    expect(nearest("disableRuns", ["disable_store", "disable_runs"])).toBe("disable_runs");
    expect(nearest("xyz", ["graphs", "env"])).toBeUndefined();
    expect(nearest("a", ["b"])).toBeUndefined();
    expect(nearest("env", ["env"])).toBeUndefined();
  });
});
