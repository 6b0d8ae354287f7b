// Finds an agent: its card, its endpoint, and the version of A2A to speak with it.
import { CliError, EXIT } from "../../errors.ts";
import { ownKeyOnly } from "../api-key.ts";
import { Client, HttpCliError } from "../client.ts";
import type { AgentFlags } from "../commands/a2a.ts";
import { findServer, type Target } from "../discover.ts";
import { chooseAssistant } from "../invoke/choose.ts";
import type { Io } from "../io.ts";
import { isRecord } from "../json.ts";
import type { Output } from "../output.ts";
import { oneLine } from "../text.ts";
import { Rpc } from "./rpc.ts";
import type { Version } from "./words.ts";

const CARD = "/.well-known/agent-card.json";

/** An agent that can be talked to. */
export interface Agent {
  readonly rpc: Rpc;
  readonly version: Version;
  /** What was chosen because it was not named; to be named in commands that are printed. */
  readonly assistant: string | undefined;
}

/** A card as it came, and who it belongs to. */
export interface FoundCard {
  readonly card: Record<string, unknown>;
  readonly assistant: string | undefined;
}

/** The agent that the flags name. @throws CliError when there is none, or none that speaks JSON-RPC. */
export async function findAgent(io: Io, flags: AgentFlags, output: Output): Promise<Agent> {
  const target = await findServer(flags, io, "agent");
  const { card, assistant } = await findCard(io, flags, output, target);
  const { url, version } = endpointOf(card, flags.v03 === true);
  // Keys are for the server that the person named, not for wherever a card points.
  const env = new URL(url).origin === new URL(target.url).origin ? envFor(target, io) : {};
  const show = (line: string): void => output.note(output.err.dim(line));
  const rpc = new Rpc(new Client({ url, source: target.source }, env), version, flags.raw === true ? show : undefined);
  return { rpc, version, assistant };
}

/** An agent that `--url` names may be anybody's. */
const envFor = ({ source }: Target, { env }: Io): Io["env"] => (source === "--url" ? ownKeyOnly(env) : env);

/** The card that the flags name. */
export async function findCard(io: Io, flags: AgentFlags, output: Output, known?: Target): Promise<FoundCard> {
  const target = known ?? (await findServer(flags, io, "agent"));
  refuseAnother(target, flags.assistant);
  const isCard = /\.json(?:\?|$)/.test(target.url);
  const client = new Client(target, envFor(target, io));
  const get = async (assistant: string | undefined): Promise<FoundCard> => {
    const query = assistant === undefined ? {} : { assistant_id: assistant };
    const card = await client.get<unknown>(isCard ? "" : CARD, {
      query,
      headers: flags.v03 === true ? {} : { "a2a-version": "1.0" },
    });
    if (!isRecord(card)) throw noAgent(target.url);
    return { card, assistant };
  };
  try {
    return await get(flags.assistant);
  } catch (error) {
    if (!(error instanceof HttpCliError)) throw error;
    // A server of ours with several agents.
    if (error.status === 400 && flags.assistant === undefined)
      return get(await chooseAssistant(client, undefined, output));
    if (error.status !== 404 || isCard || new URL(target.url).pathname === "/") throw error;
    // An endpoint whose card is elsewhere can be talked to all the same.
    const binding = {
      url: target.url,
      protocolBinding: "JSONRPC",
      protocolVersion: flags.v03 === true ? "0.3" : "1.0",
    };
    return { card: { supportedInterfaces: [binding] }, assistant: undefined };
  }
}

/** @throws CliError when the address is the one of an agent, and another one is named. */
function refuseAnother({ url, source }: Target, assistant: string | undefined): void {
  const [, segment] = /\/a2a\/([^/]+)(?:\/\.well-known\/agent-card\.json)?\/?$/.exec(new URL(url).pathname) ?? [];
  if (assistant === undefined || segment === undefined) return;
  const agent = decoded(segment);
  if (agent === assistant) return;
  throw new CliError(
    `--assistant names ${oneLine(assistant, 100)}, and ${source === "--url" ? "--url" : oneLine(url, 200)} is the agent ${oneLine(agent, 100)}: leave one of them away.`,
    { exitCode: EXIT.usage },
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Where and how to talk: over the newest version that both sides speak, unless 0.3 is wanted. */
function endpointOf(card: Record<string, unknown>, v03: boolean): { url: string; version: Version } {
  const listed = Array.isArray(card["supportedInterfaces"]) ? card["supportedInterfaces"].filter(isRecord) : [];
  const spoken = listed.filter(({ protocolBinding }) => protocolBinding === "JSONRPC");
  const find = (version: string): unknown =>
    spoken.find(({ protocolVersion }) => String(protocolVersion).startsWith(version))?.["url"];
  const old = find("0.3") ?? oldEndpoint(card);
  const young = find("1.");
  const [url, version] = (v03 ? undefined : young) === undefined ? [old, "0.3" as const] : [young, "1.0" as const];
  if (typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url)) return { url, version };
  const wanted = v03 ? "0.3" : "0.3 or 1.0";
  throw new CliError(
    `The agent ${oneLine(String(card["name"] ?? ""), 100)} does not speak A2A ${wanted} over JSON-RPC.`,
    {
      exitCode: EXIT.failed,
      hint: v03 && young !== undefined ? "It speaks 1.0: leave --v03 away." : undefined,
    },
  );
}

/** The endpoint in a card of 0.3; the first ones do not say their version. */
function oldEndpoint(card: Record<string, unknown>): unknown {
  if (!String(card["protocolVersion"] ?? "0.").startsWith("0.")) return undefined;
  const { preferredTransport = "JSONRPC", additionalInterfaces } = card;
  if (preferredTransport === "JSONRPC") return card["url"];
  const others = Array.isArray(additionalInterfaces) ? additionalInterfaces.filter(isRecord) : [];
  return others.find(({ transport }) => transport === "JSONRPC")?.["url"];
}

const noAgent = (url: string): CliError => new CliError(`${url} has no agent card.`, { exitCode: EXIT.failed });
