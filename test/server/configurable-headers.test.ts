import { expect, test } from "vitest";
import { headerPicker } from "../../src/server/configurable-headers.ts";

const pick = (includes: string[], excludes: string[], headers: Record<string, string>) =>
  headerPicker({ includes, excludes })(new Headers(headers));

test("names are compared without case, and a star stands for any characters", () => {
  const headers = { "X-User-Id": "1", "x-userid": "2", "x-tenant": "3", "y-x-user-z": "4" };
  expect(pick(["X-USER-*"], [], headers)).toEqual({ "x-user-id": "1" });
  expect(pick(["*user*"], [], headers)).toEqual({ "x-user-id": "1", "x-userid": "2", "y-x-user-z": "4" });
  expect(pick(["x-tenant", "x-userid"], [], headers)).toEqual({ "x-tenant": "3", "x-userid": "2" });
  expect(pick(["x.user.id", "x-user"], [], headers)).toBeUndefined();
});

test("what is excluded is not copied, whatever includes it", () => {
  const headers = { "x-a": "1", "x-b": "2" };
  expect(pick(["*"], ["x-A"], headers)).toEqual({ "x-b": "2" });
  expect(pick(["x-*"], ["*"], headers)).toBeUndefined();
});

test("credentials and names with a meaning of their own never are", () => {
  const never = ["authorization", "cookie", "x-api-key", "x-tenant-id", "x-service-key", "proxy-authorization"];
  const inner = ["__pregel_resuming", "checkpoint_id", "langgraph_auth_user"];
  const headers = Object.fromEntries([...never, ...inner, "x-fine"].map((name) => [name, "1"]));
  expect(pick(["*", ...never, ...inner], [], headers)).toEqual({ "x-fine": "1" });
});

test("without includes nothing is copied", () => {
  expect(pick([], [], { "x-a": "1" })).toBeUndefined();
  expect(pick([], ["x-b"], { "x-a": "1" })).toBeUndefined();
  expect(headerPicker(undefined)(new Headers({ "x-a": "1" }))).toBeUndefined();
});
