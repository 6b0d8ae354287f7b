// How a receiver of notifications wants to be shown credentials: they stand in `Authorization` behind the name of a scheme.
import { z } from "zod";
import type { PushConfig } from "./model.ts";

/** What `Authorization` takes as a scheme (RFC 9110 §11.1). */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The longest list of schemes that is kept. */
const MAX_SCHEMES = 20;

/** A list of schemes as 0.3 has it. */
export const schemeList = z.array(z.string()).max(MAX_SCHEMES);

/**
 * What a config keeps of the schemes that it was given.
 * @param context told when credentials could never be sent, because no scheme says how.
 */
export function authOf(
  schemes: readonly string[],
  credentials: string | undefined,
  context: Pick<z.RefinementCtx, "addIssue">,
): Pick<PushConfig, "scheme" | "schemes" | "credentials"> {
  const scheme = schemes.find((one) => SCHEME.test(one));
  if (scheme === undefined && (credentials !== undefined || schemes.length > 0)) {
    const message = "needs the name of a scheme, such as Bearer, by which the credentials are sent";
    context.addIssue({ code: "custom", message, path: ["authentication"] });
  }
  return { scheme, credentials, ...(schemes.length > 1 ? { schemes } : {}) };
}
