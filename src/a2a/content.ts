// Between parts of A2A and contents of LangChain messages: text as text, files as standard content blocks (image, audio, video, file).
import { isObject, type Json } from "../resources/json.ts";
import type { FilePart, Part } from "./model.ts";

/** Media types that content blocks carry, for assistants that do not say which ones they take. */
const CARRIED =
  /^(?:(?:image|audio|video|text)\/|application\/(?:pdf|json|xml|rtf|zip|gzip|msword|octet-stream|epub\+zip)$|application\/vnd\.|application\/[\w.-]+\+(?:json|xml)$)/;

/**
 * Whether an assistant takes files of a media type.
 * @param modes what it says that it takes, such as `image/png` or `image/*`; undefined when it says nothing.
 */
export function takesFile(mediaType: string, modes: readonly string[] | undefined): boolean {
  const [type = ""] = mediaType.toLowerCase().split(";");
  return modes === undefined ? CARRIED.test(type.trim()) : modes.some((mode) => matchesMode(type.trim(), mode));
}

/** Whether a media type is one of a mode, which may be a range such as `image/*`. */
export function matchesMode(type: string, mode: string): boolean {
  const range = mode.trim().toLowerCase();
  if (range === "*/*" || range === "*" || range === type) return true;
  return range.endsWith("/*") && type.startsWith(range.slice(0, -1));
}

/** The text of several parts: one below the other. */
export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");

/** Texts and files as the content of a message: a string, or content blocks where there are files. */
export function contentOf(parts: readonly Part[]): string | Json[] {
  if (!parts.some(({ kind }) => kind === "file")) return textOf(parts);
  return parts.flatMap((part): Json[] => {
    if (part.kind === "text") return [{ type: "text", text: part.text }];
    return part.kind === "file" ? [fileBlock(part)] : [];
  });
}

/** A file as a standard content block of LangChain. */
function fileBlock({ name, mediaType, bytes, uri }: FilePart): Json {
  const [family = ""] = (mediaType ?? "").split("/");
  return {
    type: ["image", "audio", "video"].includes(family) ? family : "file",
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(bytes === undefined ? { url: uri } : { data: bytes }),
    ...(name === undefined ? {} : { metadata: { filename: name } }),
  };
}

/** What the content of a message becomes; texts that follow each other are one part. */
export function partsOf(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return [];
  const parts: Part[] = [];
  for (const block of content as unknown[]) {
    const part = typeof block === "string" ? ({ kind: "text", text: block } as const) : partOf(block);
    const last = parts.at(-1);
    if (part?.kind === "text" && last?.kind === "text")
      parts[parts.length - 1] = { kind: "text", text: last.text + part.text };
    else if (part !== undefined && !(part.kind === "text" && part.text === "")) parts.push(part);
  }
  return parts;
}

/** One block: standard ones, the older ones with `source_type`, OpenAI's `image_url`, and structured data. */
function partOf(block: unknown): Part | undefined {
  if (!isObject(block)) return undefined;
  const { type, text } = block;
  if (type === "text" || type === "text-plain") return typeof text === "string" ? { kind: "text", text } : undefined;
  if (type === "image_url") {
    const given = block["image_url"];
    const url = isObject(given) ? given["url"] : given;
    return typeof url === "string" ? fileOf(url, { mediaType: "image/*" }) : undefined;
  }
  if (type === "image" || type === "audio" || type === "video" || type === "file") {
    const { metadata, mimeType, mime_type: older } = block;
    const name = isObject(metadata) ? (metadata["filename"] ?? metadata["name"] ?? metadata["title"]) : undefined;
    const about = { name: textIn(name), mediaType: textIn(mimeType) ?? textIn(older) };
    const data = textIn(block["data"]) ?? textIn(block["base64"]);
    if (data !== undefined) return { kind: "file", ...about, bytes: data };
    const url = textIn(block["url"]);
    return url === undefined ? undefined : fileOf(url, about);
  }
  if (type === "data" || type === "json") return { kind: "data", data: block["data"] ?? block["json"] ?? {} };
  if (type === "non_standard" && isObject(block["value"])) return { kind: "data", data: block["value"] };
  return undefined;
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** A file by its URL; one whose content is in the URL has bytes. */
function fileOf(url: string, about: Pick<FilePart, "name" | "mediaType">): FilePart {
  const [, mediaType, bytes] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  if (bytes !== undefined) return { kind: "file", ...about, mediaType: mediaType || about.mediaType, bytes };
  return {
    kind: "file",
    name: about.name,
    mediaType: about.mediaType === "image/*" ? undefined : about.mediaType,
    uri: url,
  };
}
