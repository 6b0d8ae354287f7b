// A new API key, and how to use it. The key alone goes to stdout, so that it can go into a variable or a file.
import { newApiKey } from "../../auth/api-keys.ts";
import type { Cli } from "../program.ts";

export async function printNewKey(cli: Cli, flags: { readonly json?: boolean }): Promise<void> {
  const { document, line, note } = await cli.output(flags);
  const key = newApiKey();
  if (flags.json === true) return document({ key });
  line(key);
  // Whoever reads it from a pipe knows what to do with it.
  if (cli.io.stdout.isTTY !== true) return;
  note();
  note("Give it to the server in AGENT_SERVER_API_KEYS, or on a line of a file for --api-key-file,");
  note("and to clients in AGENT_SERVER_API_KEY (this command line) or LANGGRAPH_API_KEY (the LangGraph SDK).");
  note("It is not kept anywhere else.");
}
