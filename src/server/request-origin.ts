// The address under which a client reached this server, for documents that must name it: behind a proxy that is the proxy's. Headers are
// taken only where they can be what they claim to be, so that nothing else gets into such a document.

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** @returns the origin without a slash at its end. @param url as this server sees it. */
export function requestOrigin(headers: Headers, url: URL): string {
  const first = (name: string): string => headers.get(name)?.split(",")[0]?.trim() ?? "";
  const proto = first("x-forwarded-proto").toLowerCase();
  const host = [first("x-forwarded-host"), headers.get("host") ?? "", url.host].find((name) => HOST.test(name));
  return `${proto === "https" || proto === "http" ? proto : url.protocol.slice(0, -1)}://${host ?? "localhost"}`;
}
