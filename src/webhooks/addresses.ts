// Which hosts are this machine itself, in whatever spelling: the URL parser has made dotted addresses of decimal, octal and hex ones
// already; what is left are names, IPv6, the unspecified addresses, which the operating
// system takes for loopback, and the addresses that its networks have given it.
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addSubnet("0.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");
LOOPBACK.addAddress("::", "ipv6");

/** Names that stand for the machine that a container or virtual machine runs on. */
const NAMES = ["localhost", "host.docker.internal", "gateway.docker.internal", "host.containers.internal"];

/** Whether an IP address is one that every machine has for itself. IPv4 addresses inside IPv6 ones count as what they are. */
export const isLoopbackAddress = (address: string): boolean => isIn(LOOPBACK, address);

/** Whether an IP address is this machine: loopback, or what one of its networks has given it. */
export function isOwnAddress(address: string): boolean {
  if (isLoopbackAddress(address)) return true;
  // Asked each time, because they change with the networks.
  const own = new BlockList();
  for (const { address: given, family } of Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []))
    own.addAddress(given, family === "IPv6" ? "ipv6" : "ipv4");
  return isIn(own, address);
}

function isIn(list: BlockList, address: string): boolean {
  const plain = address.split("%", 1)[0]!;
  const family = isIP(plain);
  if (family === 4) return list.check(plain, "ipv4");
  if (family !== 6) return false;
  if (list.check(plain, "ipv6")) return true;
  const inner = embeddedIpv4(plain);
  return inner !== undefined && list.check(inner, "ipv4");
}

/** Whether the host of a URL is this machine, on every machine, by its spelling; names that are resolved are not looked up here. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  const bare = name.startsWith("[") ? name.slice(1, -1) : name;
  return isIP(bare) === 0 ? NAMES.includes(name) || name.endsWith(".localhost") : isLoopbackAddress(bare);
}

/** The same, with the addresses of its networks. */
export const isOwnHost = (hostname: string): boolean =>
  isLoopbackHost(hostname) || isOwnAddress(hostname.replaceAll(/^\[|\]$/g, ""));

/** The IPv4 address in an IPv4-mapped (`::ffff:0:0/96`), IPv4-compatible or NAT64 (`64:ff9b::/96`) address. */
function embeddedIpv4(address: string): string | undefined {
  const groups = expand(address);
  if (groups === undefined) return undefined;
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  if (!["0:0:0:0:0:ffff", "0:0:0:0:0:0", "64:ff9b:0:0:0:0"].includes(head)) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] | undefined {
  const plain = address
    .split("%")[0]!
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a: string, b: string, c: string, d: string) => {
      const pair = (x: string, y: string): string => ((Number(x) << 8) | Number(y)).toString(16);
      return `${pair(a, b)}:${pair(c, d)}`;
    });
  const [left = "", right] = plain.split("::");
  const parse = (part: string): number[] => (part === "" ? [] : part.split(":").map((group) => parseInt(group, 16)));
  const before = parse(left);
  const after = right === undefined ? [] : parse(right);
  const gap = 8 - before.length - after.length;
  if (gap < 0) return undefined;
  return [...before, ...Array.from({ length: right === undefined ? 0 : gap }, () => 0), ...after];
}
