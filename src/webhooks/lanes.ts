// Which delivery is sent next: receivers take turns, each has few deliveries under way, and one that did not answer has a single one. So neither a
// receiver with a long backlog nor many dead ones keep another waiting.

/** Deliveries under way per receiver: of one that has answered, of one that is not known yet, of one that did not answer; and in all. */
const ANSWERS = 8;
const UNKNOWN = 2;
const TROUBLED = 1;
const AT_ONCE = 128;

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
  /** The most that may be under way. */
  most: number;
}

/** A delivery to send now. */
export interface Turn {
  readonly id: string;
  readonly receiver: string;
}

export class DeliveryLanes {
  /** By receiver; the one whose turn it is comes first. */
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;

  /** @param due not before this time, in milliseconds. */
  add(receiver: string, id: string, due: number): void {
    let lane = this.#lanes.get(receiver);
    if (lane === undefined) this.#lanes.set(receiver, (lane = { ready: [], later: [], underWay: 0, most: UNKNOWN }));
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
    if (this.#underWay >= AT_ONCE) return undefined;
    for (const [receiver, lane] of this.#lanes) {
      if (lane.underWay >= lane.most) continue;
      const due = lane.later.findIndex((later) => later.due > now);
      for (const { id } of lane.later.splice(0, due < 0 ? lane.later.length : due)) lane.ready.push(id);
      const id = lane.ready.shift();
      if (id === undefined) continue;
      lane.underWay++;
      this.#underWay++;
      this.#lanes.delete(receiver);
      this.#lanes.set(receiver, lane);
      return { id, receiver };
    }
    return undefined;
  }

  /** @param reached whether the receiver answered. */
  done(receiver: string, reached: boolean): void {
    const lane = this.#lanes.get(receiver);
    if (lane === undefined) return;
    this.#underWay--;
    lane.underWay--;
    lane.most = reached ? ANSWERS : TROUBLED;
    if (lane.underWay === 0 && lane.ready.length === 0 && lane.later.length === 0) this.#lanes.delete(receiver);
  }

  /** When the next delivery is due that is not due yet; Infinity when there is none. */
  get earliest(): number {
    let earliest = Infinity;
    for (const { later } of this.#lanes.values()) earliest = Math.min(earliest, later[0]?.due ?? Infinity);
    return earliest;
  }
}
