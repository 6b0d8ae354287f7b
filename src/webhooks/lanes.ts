// Which delivery is sent next: receivers take turns, each has few deliveries under way, and one that did not answer has a single one. So neither a
// receiver with a long backlog nor many dead ones keep another waiting.
import { LRUCache } from "lru-cache";

/** What is known of a receiver: it answered the last time, it did not, or it was never asked. */
type Standing = "answers" | "unknown" | "troubled";

/** Deliveries under way per receiver. */
const AT_ONCE: Readonly<Record<Standing, number>> = { answers: 8, unknown: 2, troubled: 1 };
/** Deliveries under way in all, and the characters that they may have. */
const PLACES = 1024;
const CHARACTERS = 256 * 1024 * 1024;
/**
 * The share of all that receivers may hold who do not answer, and with them those who might not: anybody can name a thousand addresses that
 * keep each connection until its time is over.
 */
const SHARES: readonly (readonly [who: readonly Standing[], share: number])[] = [
  [["troubled"], 1 / 2],
  [["troubled", "unknown"], 7 / 8],
  [["troubled", "unknown", "answers"], 1],
];
/** Receivers whose last answer is remembered when nothing is to be sent to them. */
const REMEMBERED = 10_000;

interface Later {
  readonly id: string;
  readonly due: number;
}

interface Lane {
  /** Deliveries whose time has come, the first to be sent first. */
  readonly ready: string[];
  /** The others, the earliest first. */
  readonly later: Later[];
  underWay: number;
}

/** A delivery to send now. */
export interface Turn {
  readonly id: string;
  readonly receiver: string;
  /** What was known of the receiver when it was taken. */
  readonly standing: Standing;
  /** Characters of the delivery; 0 until they are counted. */
  size: number;
}

export class DeliveryLanes {
  /** By receiver; the one whose turn it is comes first. */
  readonly #lanes = new Map<string, Lane>();
  readonly #known = new LRUCache<string, Standing>({ max: REMEMBERED });
  /** What is under way. */
  readonly #held: Record<Standing, { places: number; size: number }> = {
    answers: { places: 0, size: 0 },
    unknown: { places: 0, size: 0 },
    troubled: { places: 0, size: 0 },
  };

  /** @param due not before this time, in milliseconds. */
  add(receiver: string, id: string, due: number): void {
    let lane = this.#lanes.get(receiver);
    if (lane === undefined) this.#lanes.set(receiver, (lane = { ready: [], later: [], underWay: 0 }));
    let low = 0;
    let high = lane.later.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lane.later[middle]!.due <= due) low = middle + 1;
      else high = middle;
    }
    lane.later.splice(low, 0, { id, due });
  }

  /** The delivery to send now; undefined when none may be sent. Call `done` when it was. */
  take(now: number): Turn | undefined {
    const room = {
      answers: this.#hasRoom("answers"),
      unknown: this.#hasRoom("unknown"),
      troubled: this.#hasRoom("troubled"),
    };
    if (!room.answers) return undefined;
    for (const [receiver, lane] of this.#lanes) {
      const standing = this.#known.get(receiver) ?? "unknown";
      if (!room[standing] || lane.underWay >= AT_ONCE[standing]) continue;
      const due = lane.later.findIndex((later) => later.due > now);
      for (const { id } of lane.later.splice(0, due < 0 ? lane.later.length : due)) lane.ready.push(id);
      const id = lane.ready.shift();
      if (id === undefined) continue;
      lane.underWay++;
      this.#held[standing].places++;
      this.#lanes.delete(receiver);
      this.#lanes.set(receiver, lane);
      return { id, receiver, standing, size: 0 };
    }
    return undefined;
  }

  /** Whether one more may be under way to a receiver of this standing. */
  #hasRoom(standing: Standing): boolean {
    return SHARES.every(([who, share]) => {
      if (!who.includes(standing)) return true;
      const sum = (of: "places" | "size"): number => who.reduce((total, each) => total + this.#held[each][of], 0);
      return sum("places") < share * PLACES && sum("size") < share * CHARACTERS;
    });
  }

  /** Says how large a delivery is that was taken. */
  weigh(turn: Turn, size: number): void {
    turn.size = size;
    this.#held[turn.standing].size += size;
  }

  /** @param reached whether the receiver answered. */
  done({ receiver, standing, size }: Turn, reached: boolean): void {
    this.#held[standing].places--;
    this.#held[standing].size -= size;
    this.#known.set(receiver, reached ? "answers" : "troubled");
    const lane = this.#lanes.get(receiver);
    if (lane === undefined) return;
    lane.underWay--;
    if (lane.underWay === 0 && lane.ready.length === 0 && lane.later.length === 0) this.#lanes.delete(receiver);
  }

  /** When the next delivery is due that is not due yet; Infinity when there is none. */
  get earliest(): number {
    let earliest = Infinity;
    for (const { later } of this.#lanes.values()) earliest = Math.min(earliest, later[0]?.due ?? Infinity);
    return earliest;
  }
}
