// The `webhooks` key: header values with `${{ env.NAME }}` filled in once, at start, and the rules for destinations. What cannot be
// filled in stops the server, because a delivery without its secret is worse than none (requirements, "Events → Webhook").
import { variableOf } from "./env.ts";
import type { ProcessEnv } from "./env.ts";
import { TOKEN } from "./header-words.ts";
import type { ConfigInput } from "./schema.ts";
import { isRecord } from "./source.ts";
import type { ConfigPath, ConfigSource } from "./source.ts";
import type { Diagnostic, WebhookConfig } from "./types.ts";

const TEMPLATE = /\$\{\{([^}]*)\}\}/g;
const NAME = /^\s*env\.([A-Za-z_]\w*)\s*$/;
/** Headers that the delivery itself makes. */
const OURS = ["content-type", "content-length", "host", "connection", "transfer-encoding", "expect", "upgrade"];
const OUR_PREFIX = "webhook-";
/** Prefix of the variables that templates may name, unless `env_prefix` replaces it. */
export const DEFAULT_ENV_PREFIX = "LG_WEBHOOK_";

/**
 * Resolves `webhooks` and `agent_server.webhooks`; undefined when the config has neither.
 * @param env the variables that templates may name: those of the project and of the process.
 */
export function resolveWebhooks(
  source: ConfigSource,
  input: ConfigInput,
  env: ProcessEnv,
): { webhooks: WebhookConfig | undefined; diagnostics: readonly Diagnostic[] } {
  const { headers: templates, url, env_prefix } = input.webhooks ?? {};
  const own = input.agent_server?.webhooks;
  const prefix = env_prefix ?? DEFAULT_ENV_PREFIX;
  const diagnostics: Diagnostic[] = [];
  const secrets = new Set<string>();
  if (input.webhooks == null && own == null) return { webhooks: undefined, diagnostics };
  const fill = (path: ConfigPath, subject: string, template: string): string => {
    if (template.replaceAll(TEMPLATE, "").includes("${{")) {
      const message = `${subject} has a template that is not closed.`;
      diagnostics.push(source.report(path, "value", { severity: "error", message, hint: "Write ${{ env.NAME }}." }));
      return "";
    }
    return template.replaceAll(TEMPLATE, (whole, inside: string) => {
      const name = NAME.exec(inside)?.[1];
      const fail = (message: string, hint: string): string => {
        diagnostics.push(source.report(path, "value", { severity: "error", message, hint }));
        return "";
      };
      if (name === undefined)
        return fail(`${subject} has a template that is not understood: ${whole}.`, "Write ${{ env.NAME }}.");
      if (!name.startsWith(prefix)) {
        const hint = `Rename the variable to ${prefix}${name}, or set "webhooks.env_prefix".`;
        return fail(`${subject} names the environment variable ${name}, which does not begin with "${prefix}".`, hint);
      }
      const value = variableOf(env, name);
      if (value !== undefined && value !== "") {
        secrets.add(value);
        return value;
      }
      const state = value === undefined ? "not set" : "empty";
      return fail(
        `${subject} needs the environment variable ${name}, which is ${state}.`,
        `Set ${name} before you start the server.`,
      );
    });
  };

  const headers: Record<string, string> = {};
  const written = isRecord(source.value["webhooks"]) ? source.value["webhooks"]["headers"] : undefined;
  if (isRecord(written) && Object.hasOwn(written, "__proto__")) {
    // The schema has left it out without a word.
    const message = 'The webhook header "__proto__" cannot be a header.';
    diagnostics.push(source.report(["webhooks", "headers", "__proto__"], "key", { severity: "error", message }));
  }
  for (const [name, template] of Object.entries(templates ?? {})) {
    const path = ["webhooks", "headers", name];
    const subject = `The webhook header "${name}"`;
    const lower = name.toLowerCase();
    const problem = !TOKEN.test(name)
      ? "cannot be a header: its name has characters that no header name has."
      : OURS.includes(lower) || lower.startsWith(OUR_PREFIX)
        ? "is set by the server itself."
        : undefined;
    if (problem !== undefined) {
      diagnostics.push(source.report(path, "key", { severity: "error", message: `${subject} ${problem}` }));
      continue;
    }
    const value = fill(path, subject, template);
    // The value may be a secret, so it is not shown.
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      const message = `${subject} has a value with a line break or a character that no header may have.`;
      diagnostics.push(source.report(path, "value", { severity: "error", message }));
    }
    headers[name] = value;
  }
  const secret =
    own?.secret == null ? undefined : fill(["agent_server", "webhooks", "secret"], "The webhook secret", own.secret);
  if (secret !== undefined && diagnostics.length === 0 && !isKey(secret)) {
    const message =
      "The webhook secret is no key: it is empty, or what stands behind whsec_ is not base64 of at least 16 bytes.";
    const hint = "Make one with: node -p \"'whsec_' + crypto.randomBytes(32).toString('base64')\"";
    diagnostics.push(
      source.report(["agent_server", "webhooks", "secret"], "value", { severity: "error", message, hint }),
    );
  }
  return {
    diagnostics,
    webhooks: {
      headers,
      ...(secret === undefined ? {} : { secret }),
      // The longest first: one may be a part of another.
      secrets: [...secrets, ...Object.values(headers), ...(secret === undefined ? [] : [secret])].toSorted(
        (a, b) => b.length - a.length,
      ),
      timeoutSeconds: own?.timeout_seconds ?? 10,
      maxAttempts: own?.max_attempts ?? 8,
      policy: {
        ...(url?.allowed_domains == null ? {} : { allowedDomains: url.allowed_domains }),
        ...(url?.allowed_ports == null ? {} : { allowedPorts: url.allowed_ports }),
        ...(url?.max_url_length == null ? {} : { maxUrlLength: url.max_url_length }),
        requireHttps: url?.require_https ?? false,
        disableLoopback: url?.disable_loopback ?? false,
      },
    },
  };
}

/** Base64 that is not whole would become a short or empty key without a word, and anybody could sign. */
function isKey(secret: string): boolean {
  if (!secret.startsWith("whsec_")) return secret !== "";
  const text = secret.slice("whsec_".length);
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, "base64").length >= 16;
}
