// The programmatic door: starts the same server that `agent-server dev` runs, for tests and scripts.
export { startServer } from "./server/start.ts";
export type { RunningServer, ServerEvent, StartOptions } from "./server/types.ts";
export type { Diagnostic, GraphSpec, ProjectConfig, SourceLocation } from "./config/types.ts";
export type { GraphEvent } from "./graphs/types.ts";
