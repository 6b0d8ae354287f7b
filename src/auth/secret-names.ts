// Which names stand for secrets, in headers and in addresses: one list, so that what is kept out of a log is kept out of every message too.

/** Words that the names of secrets have in them. */
const WORDS =
  /api[-_]?key|auth|bearer|cookie|credential|jwt|passphrase|passw|pwd|private[-_]?key|secret|service[-_]?key|session|signature|token/i;
/** Names that are secrets in an address when they stand alone or apart: `X-Amz-Sig`, `code` of a login, `key`. */
const APART = /(?:^|[^a-z0-9])(?:code|key|pass|pin|sid|sig)(?:$|[^a-z0-9])/i;
/** Characters of a name that are looked at. */
const LONGEST = 1000;

/** Whether a header of this name may hold a secret. */
export const isSecretHeader = (name: string): boolean => WORDS.test(name);

/** Whether a parameter of this name, as it stands in an address, may hold a secret. A name that cannot be read may. */
export function isSecretParameter(name: string): boolean {
  if (name.length > LONGEST) return true;
  try {
    const plain = decodeURIComponent(name.replaceAll("+", " "));
    return WORDS.test(plain) || APART.test(plain);
  } catch {
    return true;
  }
}
