// Which delivery is sent next: receivers take turns, each has few deliveries under way, and one that did not answer has a single one. So neither a
// receiver with a long backlog nor many dead ones keep another waiting.
import { LRUCache } from "lru-cache";
import { Later } from "./later.ts";

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

interface Lane {
  /** Deliveries whose time has come, the first to be sent first. */
  readonly ready: string[];
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
  /** Receivers of what is ready or under way; the one whose turn it is comes first. */
  readonly #lanes = new Map<string, Lane>();
  /** What `take` has not found due yet. */
  readonly #later = new Later<{ readonly receiver: string; readonly id: string }>();
  readonly #known = new LRUCache<string, Standing>({ max: REMEMBERED });
  /** What is under way. */
  readonly #held: Record<Standing, { places: number; size: number }> = {
    answers: { places: 0, size: 0 },
    unknown: { places: 0, size: 0 },
    troubled: { places: 0, size: 0 },
  };

  /** @param due not before this time, in milliseconds. */
  add(receiver: string, id: string, due: number): void {
    this.#later.add({ receiver, id }, due);
  }

  #makeReady(now: number): void {
    for (let next = this.#later.take(now); next !== undefined; next = this.#later.take(now)) {
      const { receiver, id } = next;
      const lane = this.#lanes.get(receiver) ?? { ready: [], underWay: 0 };
      // Who had nothing to get stands behind those that wait.
      if (lane.ready.length === 0) this.#toEnd(receiver, lane);
      lane.ready.push(id);
    }
  }

  #toEnd(receiver: string, lane: Lane): void {
    this.#lanes.delete(receiver);
    this.#lanes.set(receiver, lane);
  }

  /** The delivery to send now; undefined when none may be sent. Call `done` when it was. */
  take(now: number): Turn | undefined {
    this.#makeReady(now);
    const room = {
      answers: this.#hasRoom("answers"),
      unknown: this.#hasRoom("unknown"),
      troubled: this.#hasRoom("troubled"),
    };
    if (!room.answers) return undefined;
    for (const [receiver, lane] of this.#lanes) {
      if (lane.ready.length === 0) continue;
      const standing = this.#known.get(receiver) ?? "unknown";
      if (!room[standing] || lane.underWay >= AT_ONCE[standing]) continue;
      const id = lane.ready.shift()!;
      lane.underWay++;
      this.#held[standing].places++;
      this.#toEnd(receiver, lane);
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
    if (lane.underWay === 0 && lane.ready.length === 0) this.#lanes.delete(receiver);
  }

  /**
   * When the next delivery is due that was not due at the last `take`; Infinity when there is none. What is due and waits for room is not
   * among them: `done` is what makes room.
   */
  get earliest(): number {
    return this.#later.earliest;
  }
}
