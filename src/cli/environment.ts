// The variables that the command line reads and the codes that it exits with: one list for the help and for the README.
import { EXIT } from "../errors.ts";

/** Variable, and what it does. */
export const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  ["AGENT_SERVER_URL", "the server that the client commands talk to; `--url` and `--data-dir` win"],
  [
    "AGENT_SERVER_API_KEY",
    "sent by the client commands as `X-Api-Key` and as `Authorization: Bearer`; `LANGGRAPH_API_KEY` and `LANGSMITH_API_KEY` count when it is not set, and are sent as `X-Api-Key` only. To an agent that `a2a --url` names only this one is sent",
  ],
  [
    "AGENT_SERVER_API_KEYS",
    "keys with commas between them, one of which every request to `dev` must show, but for `/ok`; `--api-key` and `--api-key-file` add to them",
  ],
  ["AGENT_SERVER_WEBHOOK_SECRET", "the secret of `webhooks listen`; `--secret` wins"],
  ["AGENT_SERVER_PORT", "the port of `dev`, and the one that `doctor` looks at; `--port` wins"],
  [
    "XDG_CACHE_HOME",
    "where `a2a send --continue` finds the last conversation with a server outside of the project; default: `~/.cache`",
  ],
  ["AGENT_SERVER_DEBUG", "`1` prints a stack trace with an unexpected error"],
  ["NO_COLOR", "any value: no colour"],
  ["FORCE_COLOR", "`1`, `2` or `3`: colour even when the output is no terminal; `0`: none; wins over NO_COLOR"],
  ["TERM", "`dumb`: no colour"],
];

/** Exit code, and when. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, "done; also when a run waits at an interrupt"],
  [
    EXIT.failed,
    "the run failed, the server refused the request, `check` or `doctor` found an error, or `dev` could not start",
  ],
  [EXIT.usage, "the command line or the config is wrong"],
  [EXIT.noServer, "no server answers, or the connection broke for good"],
  [EXIT.interrupted, "stopped by Ctrl-C; not `webhooks listen`, which is done then and exits with 0"],
];
