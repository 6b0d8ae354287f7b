// `agent-server webhooks`: a receiver to try webhooks with, and a look at what the server has delivered. The work is in ../webhooks/.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { TargetFlags } from "../discover.ts";
import { integer, withTarget } from "../flags.ts";
import type { Cli } from "../program.ts";

/** The flags of `webhooks listen` as commander gives them. */
export interface ListenFlags {
  readonly port: number;
  readonly host: string;
  readonly fail?: number;
  /** Milliseconds. */
  readonly slow?: number;
  readonly status: number;
  readonly secret?: string;
  readonly count?: number;
  readonly json?: boolean;
}

/** The flags of `webhooks ls`. */
export interface DeliveriesFlags extends TargetFlags {
  readonly status?: string;
  readonly run?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** The flags of the commands about one delivery. */
export interface DeliveryFlags extends TargetFlags {
  readonly json?: boolean;
}

/** Adds the commands to `program`. */
export function registerWebhooks(program: Command, cli: Cli): void {
  const webhooks = program
    .command("webhooks")
    .description("receive webhooks, and see what was delivered")
    .helpCommand(false);
  webhooks
    .command("listen")
    .description("receive webhooks here and print each delivery; give runs the URL that it prints")
    .addOption(new Option("-p, --port <number>", "port").default(4400).argParser(integer(0, 65_535)))
    .addOption(new Option("--host <host>", "address to bind to").default("127.0.0.1"))
    .addOption(new Option("--fail <n>", "answer the first n attempts of each delivery with 503").argParser(integer(0)))
    .addOption(new Option("--slow <duration>", "wait before each answer, such as 3s or 500ms").argParser(duration))
    .addOption(new Option("--status <code>", "answer with this status").default(200).argParser(integer(200, 599)))
    .addOption(new Option("--secret <secret>", "check signatures with this secret").env("AGENT_SERVER_WEBHOOK_SECRET"))
    .addOption(new Option("-n, --count <n>", "stop after so many deliveries").argParser(integer(1)))
    .option("--json", "print JSON on a terminal, too: one line for each delivery")
    .addHelpText("after", "\nCtrl-C ends it; that is no failure, and it exits with 0.")
    .action(async (flags: ListenFlags) => {
      const { listen } = await import("../webhooks/listen.ts");
      await listen(cli, flags);
    });

  const list = webhooks
    .command("ls")
    .description("list deliveries with their attempts and answers, newest first")
    .addOption(new Option("--status <status>", "only these").choices(["pending", "delivered", "failed"]))
    .option("--run <id>", "only those of this run")
    .addOption(new Option("-l, --limit <number>", "how many").default(20).argParser(integer(1, 1000)))
    .option("--json", "print JSON on a terminal, too");
  withTarget(list).action(async (flags: DeliveriesFlags) => {
    const { listDeliveries } = await import("../webhooks/show.ts");
    await listDeliveries(cli, flags);
  });

  const show = webhooks
    .command("show")
    .description("show one delivery: its attempts and what is sent")
    .argument("<id>", "id of the delivery")
    .option("--json", "print JSON on a terminal, too");
  withTarget(show).action(async (id: string, flags: DeliveryFlags) => {
    const { showDelivery } = await import("../webhooks/show.ts");
    await showDelivery(cli, id, flags);
  });

  const replay = webhooks
    .command("replay")
    .description("send a delivery once more, under a new id")
    .argument("<id>", "id of the delivery")
    .option("--json", "print JSON on a terminal, too");
  withTarget(replay).action(async (id: string, flags: DeliveryFlags) => {
    const { replayDelivery } = await import("../webhooks/show.ts");
    await replayDelivery(cli, id, flags);
  });
}

/** `3s`, `500ms`, `2m` in milliseconds. */
function duration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError("Give a duration such as 3s, 500ms or 1m.");
  return Number(amount) * (unit === "ms" ? 1 : unit === "s" ? 1000 : 60_000);
}
