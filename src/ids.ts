// Identifiers and timestamps that sort in the order of their making, so that storage keys need no counters beside them.
import { createHash, randomFillSync, randomUUID } from "node:crypto";

/** Source of ids and time; passed in, so that tests own both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

const random = Buffer.alloc(4096);
let randomAt = random.length;
let lastMs = 0;
let sequence = 0;

/**
 * A UUID version 7 that is greater than every one made before it in this process: runs of one millisecond keep their order
 * through a 12-bit counter (RFC 9562 §6.2, method 1), which borrows from the next millisecond when it runs over.
 */
export function uuid7(now: number = Date.now()): string {
  if (now > lastMs) {
    lastMs = now;
    sequence = 0;
  } else if (++sequence > 0xfff) {
    lastMs++;
    sequence = 0;
  }
  if (randomAt + 8 > random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  const tail = random.toString("hex", randomAt, randomAt + 8);
  randomAt += 8;
  const time = lastMs.toString(16).padStart(12, "0");
  const variant = ((parseInt(tail[0]!, 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, "0")}-${variant}${tail.slice(1, 4)}-${tail.slice(4)}`;
}

/** Makes ids of this process greater than `id`, so that order holds over a restart whose clock went backwards. */
export function advanceUuid7(id: string): void {
  const ms = parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  if (Number.isFinite(ms) && ms > lastMs && ms < Date.now() + 86_400_000) {
    lastMs = ms;
    sequence = parseInt(id.slice(15, 18), 16);
  }
}

/** A random UUID (version 4). */
export const uuid4 = (): string => randomUUID();

/** Namespace in which the platform names its system assistants (RFC 4122 OID namespace with the last octets as published). */
const ASSISTANT_NAMESPACE = Buffer.from("6ba7b8219dad11d180b400c04fd430c8", "hex");

/** UUID version 5 of a graph id: the id of its system assistant, the same on every server. */
export function systemAssistantId(graphId: string): string {
  const hash = createHash("sha1").update(ASSISTANT_NAMESPACE).update(graphId).digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` is spelled like a UUID of any version. */
export const isUuid = (text: string): boolean => UUID.test(text);

let lastStamp = 0;
let micros = 0;

/** Now as ISO 8601 with microseconds and offset, e.g. `2026-11-20T07:41:33.123001+00:00`; strictly increasing in this process. */
export function timestamp(now: number = Date.now()): string {
  if (now > lastStamp) {
    lastStamp = now;
    micros = 0;
  } else if (++micros > 999) {
    lastStamp++;
    micros = 0;
  }
  return `${isoMs(lastStamp)}${String(micros).padStart(3, "0")}+00:00`;
}

/** A time in milliseconds in the same spelling. */
export const timestampOf = (ms: number): string => `${isoMs(Math.floor(ms))}000+00:00`;

let secondOf = -1;
let secondText = "";

/** `2026-11-20T07:41:33.123`; the date part is kept between calls because most fall into the same second. */
function isoMs(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== secondOf) {
    secondOf = second;
    secondText = new Date(second * 1000).toISOString().slice(0, 20);
  }
  return secondText + String(ms - second * 1000).padStart(3, "0");
}

/** An ISO time as LangGraph writes it (`…Z`, milliseconds) in the server's own spelling (`…+00:00`). */
export const withOffset = (iso: string): string => (iso.endsWith("Z") ? `${iso.slice(0, -1)}+00:00` : iso);
