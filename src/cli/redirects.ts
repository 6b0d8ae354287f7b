// Keys are for the server that the person named. `fetch` follows a redirect to another server with all headers of ours but `authorization`,
// so that requests with a key follow redirects here.
import { ofetch, type FetchOptions, type FetchResponse } from "ofetch";
import { CliError, EXIT } from "../errors.ts";
import { oneLine } from "./text.ts";

/** Redirects that are followed, one behind the other. */
const MAX_REDIRECTS = 10;

type Options<R extends "text" | "stream"> = FetchOptions<R, string> & { readonly headers: Record<string, string> };

/** Sends a request that has a key. @throws CliError when it is redirected to another server. */
export async function sendWithKey<R extends "text" | "stream">(
  url: string,
  options: Options<R>,
): Promise<FetchResponse<string>> {
  let at = url;
  let next = options;
  for (let followed = 0; ; followed++) {
    const response = (await ofetch.raw<string, R>(at, { ...next, redirect: "manual" })) as FetchResponse<string>;
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    const target = targetOf(location, response.url === "" ? at : response.url);
    await discard(response);
    if (target === undefined || followed === MAX_REDIRECTS)
      throw new CliError(`${oneLine(url, 200)} redirects without an end, or to nowhere.`, { exitCode: EXIT.failed });
    if (target.origin !== new URL(at).origin) {
      throw new CliError(
        `${new URL(at).origin} redirects to another server, ${target.origin}, which the API key is not sent to.`,
        { exitCode: EXIT.failed, hint: `If you trust it, name it yourself: --url ${target.origin}` },
      );
    }
    at = target.href;
    next = { ...next, query: {} };
    // As browsers do: only these two send the same request again.
    if (![307, 308].includes(response.status) && next.method !== "GET") {
      const { body: _body, ...rest } = next;
      next = { ...rest, method: "GET" } as Options<R>;
    }
  }
}

const targetOf = (location: string, from: string): URL | undefined =>
  URL.canParse(location, from) ? new URL(location, from) : undefined;

/** Lets go of a body that nobody reads. */
async function discard({ _data: body }: FetchResponse<unknown>): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel();
}
