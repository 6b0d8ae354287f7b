// Health (wire-api §1.9): the one route that is always there.
import { z } from "zod";
import { answer, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const okQuery = z.object({
  check_db: z.string().optional().meta({ description: "`1` or `true` reads from storage as well; 500 if that fails." }),
});

export function systemRoutes(route: Route, { threads }: Services): void {
  route(
    {
      method: "GET",
      path: "/ok",
      tag: "System",
      access: "everybody",
      summary: '`{"ok":true}`; with `?check_db=1` it also reads from storage',
      query: okQuery,
      answers: answer("The server answers.", z.object({ ok: z.literal(true) })),
    },
    (context) => {
      const { check_db } = context.query();
      // A storage that cannot be read throws, which is the 500 that a probe asks for.
      if (check_db === "1" || check_db === "true") threads.find("00000000-0000-0000-0000-000000000000");
      return context.reply.jsonText('{"ok":true}');
    },
  );
}
