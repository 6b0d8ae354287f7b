// UUIDs in storage keys and records: 22 characters instead of 36, in the same order. There are a dozen of them per turn of a
// conversation, which makes a quarter of what is stored.

/** Base 64 with digits in ASCII order, so that short ids sort as the UUIDs do. Every character is safe in a key. */
const DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const VALUE = new Uint8Array(128);
for (let i = 0; i < DIGITS.length; i++) VALUE[DIGITS.charCodeAt(i)] = i;

/** Marks a short id among other texts. `encodeURIComponent` leaves it alone, and no UUID begins with it. */
const MARK = "~";
/** Characters of a short id with its mark. */
export const SHORT_ID_CHARS = 23;
/** Lower case only: another spelling must come back as it was. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The short form of a UUID; any other text as it is, unless it looks like a short id. */
export function shortId(id: string): string {
  if (!UUID.test(id)) return id.startsWith(MARK) ? MARK + id : id;
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  let short = MARK;
  // 21 digits of 6 bits from the left, and the last 2 bits.
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      short += DIGITS[(held >> bits) & 63];
      held &= (1 << bits) - 1;
    }
  }
  return short + DIGITS[held << (6 - bits)];
}

/** The text that `shortId` was given. */
export function longId(short: string): string {
  if (!short.startsWith(MARK)) return short;
  if (short.startsWith(MARK + MARK)) return short.slice(1);
  const bytes = Buffer.alloc(16);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 1; i < short.length && at < 16; i++) {
    held = (held << 6) | VALUE[short.charCodeAt(i)]!;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
    held &= (1 << bits) - 1;
  }
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
