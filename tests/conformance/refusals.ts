import * as assert from "uvu/assert";
import { manual } from "../helpers/local.ts";
import type { Test } from "../helpers/suite.ts";
import { ask, type Signed, write } from "./client.ts";
import { differs } from "./differences.ts";
import { type Candidate, type Engine, wms } from "./engine.ts";
import { at, mismatch, writer } from "./writer.ts";

const late = /^TimeStamp: must be an ISO 8601 time .*within two minutes of this server's, which is \S+Z$/;
const notLiteral = "path: must start with one / and hold nothing that a URL parser would change";
const noPath = "path: must be /register/<smallkey>";
const missing = (name: string) => `${name}: the header is missing`;

export function refusalTests(test: Test, candidate: Candidate, engine: () => Engine): void {
	const { put, assertRead, assertRefusal } = writer(engine);

	test("a write that is not signed as the specification says is 401", async () => {
		const table: [string, Signed, string | RegExp][] = [
			["another secret", { secret: "another" }, mismatch],
			["another body", { signedBody: wms("tampered") }, mismatch],
			["no Sender", { headers: { Sender: undefined } }, missing("Sender")],
			["three minutes ago", { timestamp: at(-180) }, late],
		];
		for (const [what, signed, expected] of table) {
			await assertRefusal(401, what, () => put("refused", signed), expected);
		}
		await assertRead("refused", null);
	});

	test("a body over 64 KiB is 413, before its signature is checked", async () => {
		const rule = "the body must have at most 65536 bytes";
		const send = (bytes: number) => () =>
			ask(engine().origin, "PUT", "/register/large", { body: " ".repeat(bytes) });
		await assertRefusal(413, "65,537 bytes", send(65_537), rule);
		const names = ["Authorization", "Sender", "TimeStamp"];
		await assertRefusal(401, "65,536 bytes", send(65_536), names.map(missing));
	});

	test("writes know PUT and DELETE of one path segment only, without a query", async () => {
		const send = (method: string, path: string) => () =>
			write(engine().origin, method, path, { body: manual });
		for (const method of ["GET", "PATCH"]) {
			const rule = `method: must be PUT or DELETE, not ${method}`;
			const bare = () => ask(engine().origin, method, "/register/23ax5t");
			await assertRefusal(405, method, bare, rule);
		}
		const head = await ask(engine().origin, "HEAD", "/register/23ax5t");
		assert.equal([head.status, head.headers.allow, head.text], [405, "DELETE, PUT", ""]);
		for (const path of ["/register/a/b", "/nothing"])
			await assertRefusal(404, path, send("PUT", path), noPath);
		const query = "path: a write must have no query";
		await assertRefusal(400, "a query", send("PUT", "/register/refused?"), query);
		await assertRefusal(400, "two slashes", send("PUT", "//register/x"), notLiteral);
	});

	test("a path that URL parsing would alter is refused", async () => {
		// Behind a URL parser: a signature of another path, or another path.
		const table: [string, number, string][] = [
			["/register/../register/dots", 401, mismatch],
			["/register/%2E%2E", 404, noPath],
			["/register/a\\b", 404, noPath],
			["/register/a#b", 401, mismatch],
		];
		for (const [target, status, error] of table) {
			const send = () => write(engine().origin, "PUT", target, { body: manual });
			if (differs(candidate, "dot segments")) await assertRefusal(status, target, send, error);
			else await assertRefusal(400, target, send, notLiteral);
		}
	});
}
