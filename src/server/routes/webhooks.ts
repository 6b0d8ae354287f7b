// The outbox of webhooks over HTTP: what was delivered and what was not, and delivering again. These are this server's own operations.
import { z } from "zod";
import type { Delivery } from "../../resources/deliveries.ts";
import { queryInt } from "../../resources/schema.ts";
import { deliveryShape } from "../../resources/shapes.ts";
import { answer, type Route } from "../operation.ts";
import type { Services } from "../services.ts";

const listQuery = z.object({
  limit: queryInt(1, 1000, 20),
  offset: queryInt(0, Number.MAX_SAFE_INTEGER, 0),
  status: z.enum(["pending", "delivered", "failed"]).optional(),
  run_id: z.string().optional(),
});

export function webhookRoutes(route: Route, { webhooks, subjects }: Services): void {
  const tag = "Webhooks";
  route(
    {
      method: "GET",
      path: "/internal/webhooks",
      tag,
      access: "threads:search",
      summary: "deliveries of webhooks, newest first",
      query: listQuery,
      answers: answer("The deliveries.", z.array(deliveryShape)),
    },
    (context) => {
      const { allows: seen } = context;
      const allows = seen && ((delivery: Delivery) => seen(subjects.ofDelivery(delivery)));
      return context.reply.json(webhooks.deliveries.list({ ...context.query(), allows }));
    },
  );
  route(
    {
      method: "GET",
      path: "/internal/webhooks/:delivery_id",
      tag,
      access: "threads:read",
      summary: "one delivery, with what is sent",
      answers: answer("The delivery.", deliveryShape.extend({ body: z.unknown() })),
      errors: [404],
    },
    (context) => {
      const delivery = webhooks.deliveries.get(context.uuid("delivery_id"));
      const head = JSON.stringify(delivery).slice(0, -1);
      return context.reply.jsonText(`${head},"body":${webhooks.deliveries.body(delivery.delivery_id)}}`);
    },
  );
  route(
    {
      method: "POST",
      path: "/internal/webhooks/:delivery_id/replay",
      tag,
      access: "threads:update",
      summary: "send it once more, as a new delivery",
      answers: answer("The new delivery.", deliveryShape),
      errors: [404],
    },
    (context) => context.reply.json(webhooks.deliveries.replay(context.uuid("delivery_id"))),
  );
}
