// Types of docs.mjs, for the test that compares README.md with the program.

/** The modules that the tables are made from. */
export interface Source {
  readonly commandTables: () => string;
  readonly buildProgram: (io: never) => { program: { options: readonly { flags: string; description: string }[] } };
  readonly processIo: () => unknown;
  readonly ENVIRONMENT: readonly (readonly [name: string, meaning: string])[];
  readonly EXIT_CODES: readonly (readonly [code: number, meaning: string])[];
  readonly configKeys: () => readonly {
    key: string;
    type: string;
    default: string;
    effect: string;
    description: string;
  }[];
  readonly routes: readonly { method: string; path: string; summary: string }[];
}

/** A generated part that is not as it should be, with its first line that differs. */
export interface Stale {
  readonly name: string;
  readonly line: number;
  readonly found: string;
  readonly wanted: string;
}

export function tables(source: Source): Record<string, string>;
export function withTables(text: string, parts: Readonly<Record<string, string>>): string;
export function stale(text: string, parts: Readonly<Record<string, string>>): Stale[];
export function operationsOf(
  register: (route: (operation: never) => void, services: never) => void,
): { method: string; path: string; summary: string }[];
