// What is kept out of logs and messages.
import { expect, test } from "vitest";
import { mistake, secretsOf } from "../../src/auth/refusals.ts";
import { isSecretHeader, isSecretParameter } from "../../src/auth/secret-names.ts";

test("names of secrets, however they are written", () => {
  const secrets = [
    "token",
    "access_token",
    "api-key",
    "X-Amz-Signature",
    "X-Amz-Sig",
    "sig",
    "code",
    "key",
    "jwt",
    "pwd",
  ];
  const more = ["passphrase", "user_password", "PRIVATE-KEY", "pass", "to%6ben", "p%61ssw%6Frd", "sid", "%ff"];
  for (const name of [...secrets, ...more]) expect([name, isSecretParameter(name)]).toEqual([name, true]);
  for (const name of ["limit", "offset", "encode", "keyboard", "monkey", "passage", "%20", "assistant_id", "design"])
    expect([name, isSecretParameter(name)]).toEqual([name, false]);
  for (const name of ["authorization", "cookie", "x-api-key", "x-jwt-assertion", "x-user-pwd"])
    expect([name, isSecretHeader(name)]).toEqual([name, true]);
  for (const name of ["x-trace", "user-agent", "x-signal"]) expect([name, isSecretHeader(name)]).toEqual([name, false]);
});

test.each([
  ["as it came", "dXNlcm5hbWU6aHVudGVyMi1sb25n"],
  ["decoded", "username:hunter2-long"],
  ["the password alone", "hunter2-long"],
  ["the user alone", "username"],
])("the message of an error shows nothing of what Basic has: %s", (_, piece) => {
  const headers = new Headers({ authorization: `Basic ${btoa("username:hunter2-long")}` });
  const { message } = mistake("authenticate", new Error(`cannot read ${piece}`), secretsOf(headers), "/");
  expect(message).toBe("authenticate threw Error (its message has a piece of a credential in it)");
});

test("other words stay", () => {
  const headers = new Headers({ authorization: `Basic ${btoa("username:hunter2-long")}`, "x-trace": "abcdef" });
  const { message } = mistake("authenticate", new Error("Basic is not what abcdef needs"), secretsOf(headers), "/");
  expect(message).toContain("Basic is not what abcdef needs");
});
