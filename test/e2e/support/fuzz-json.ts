// JSON as an attacker writes it: values that may hold what JSON.stringify would not write, and ways to change them.
import type { Random } from "./fuzz-random.ts";
import { KEYS, NUMBERS, STRUCTURES, TEXTS } from "./fuzz-values.ts";

/** Text that goes into the body as it stands. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object as a list, so that a key may come twice and `__proto__` is a key like any other. */
export class Fields {
  readonly entries: [key: string, value: Json][];
  constructor(entries: [string, Json][] = []) {
    this.entries = entries;
  }
}

/** A JSON value that is being made. */
export type Json = string | number | boolean | null | Raw | Fields | Json[];

/** Makes one of a value that JSON.stringify can write. */
export function jsonOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === "object" && value !== null)
    return new Fields(Object.entries(value).map(([key, field]) => [key, jsonOf(field)]));
  return (value ?? null) as Json;
}

/** The text of a value. */
export function textOf(value: Json): string {
  if (value instanceof Raw) return value.text;
  if (value instanceof Fields)
    return `{${value.entries.map(([key, field]) => `${JSON.stringify(key)}:${textOf(field)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  return JSON.stringify(value);
}

/** A value that nobody expects. */
export function hostile(random: Random): Json {
  const kind = random.int(10);
  if (kind < 4) return random.pick(TEXTS);
  if (kind < 6) return new Raw(random.pick(NUMBERS));
  return new Raw(random.pick(STRUCTURES));
}

/** A place in a value: the value that is there, and what changes it. */
interface Place {
  readonly value: Json;
  replace(value: Json): void;
  remove(): void;
}

function placesIn(value: Json): Place[] {
  if (value instanceof Fields) {
    return value.entries.flatMap((entry) => {
      const place: Place = {
        value: entry[1],
        replace: (next) => void (entry[1] = next),
        remove: () => void value.entries.splice(value.entries.indexOf(entry), 1),
      };
      return [place, ...placesIn(entry[1])];
    });
  }
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => {
    const place: Place = {
      value: item,
      replace: (next) => void (value[index] = next),
      remove: () => void value.splice(index, 1),
    };
    return [place, ...placesIn(item)];
  });
}

/** Changes a value in one place. @returns the changed value, which is another one when all of it was replaced. */
export function mutated(value: Json, random: Random): Json {
  const places = placesIn(value);
  const objects = [value, ...places.map((place) => place.value)].filter((each) => each instanceof Fields);
  const way = random.int(100);
  if (way < 20 && objects.length > 0) {
    const { entries } = random.pick(objects);
    const again = entries.length > 0 && random.percent(40);
    entries.push([again ? random.pick(entries)[0] : random.pick(KEYS), hostile(random)]);
    return value;
  }
  if (places.length === 0 || way < 28) return hostile(random);
  const place = random.pick(places);
  if (way < 38) place.remove();
  else if (way < 44) place.replace(null);
  else if (way < 50) place.replace([place.value]);
  else place.replace(hostile(random));
  return value;
}
