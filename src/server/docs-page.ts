// The page at /docs: Scalar's API reference, which `npm run build` puts into dist/docs/ and which this server serves itself. The page
// may load from and talk to this server only; the browser is told so by a header, whatever the script would like to do.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { etagOf } from "./etag.ts";

const SCRIPT = new URL("../docs/scalar.js.gz", import.meta.url);

/** The page's script. */
export interface Script {
  /** Compressed with gzip. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

let script: Script | undefined;

/** The script, read when it is first asked for. @throws Error when the package was not built. */
export function docsScript(): Script {
  if (script === undefined) {
    const bytes = new Uint8Array(readFileSync(SCRIPT));
    script = { bytes, etag: etagOf(bytes) };
  }
  return script;
}

/** The script for a client that takes no gzip. */
export const docsScriptText = (): string => gunzipSync(docsScript().bytes).toString("utf8");

export const DOCS_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    // The script puts its own styles into the page.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** Everything of Scalar that would ask another server, or lead to one, is off. */
const SETTINGS = {
  title: "agent-server",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: "never",
  // The summaries are written to stand beside their paths.
  operationTitleSource: "path",
  orderSchemaPropertiesBy: "preserve",
  documentDownloadType: "json",
  defaultOpenFirstTag: true,
};

/**
 * The HTML of the page. All its addresses are relative, so that it works behind a proxy that puts a path in front.
 * @param pathname of the page, as the browser knows it.
 */
export function docsHtml(pathname: string): string {
  const up = pathname.endsWith("/") ? "../" : "";
  const settings = JSON.stringify({ url: `${up}openapi.json`, ...SETTINGS });
  const version = encodeURIComponent(docsScript().etag.slice(1, 9));
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>agent-server</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript. The same as data: <a href="${up}openapi.json">openapi.json</a></noscript>
    <div id="api-reference" data-configuration="${settings.replaceAll('"', "&quot;")}"></div>
    <script src="${up}docs/scalar.js?v=${version}"></script>
  </body>
</html>
`;
}
