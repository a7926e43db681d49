import * as assert from "uvu/assert";
import { manual } from "../helpers/local.ts";
import { type Answer, ask, errorsOf, type Signed, write } from "./client.ts";
import { type Engine, wmsFragment } from "./engine.ts";

export const mismatch = "Authorization: is not the signature of this path, sender, timestamp and body";

export function at(seconds: number): string {
	return new Date(Date.now() + seconds * 1000).toISOString();
}

export function writer(engine: () => Engine) {
	return {
		put: (smallkey: string, signed: Signed = {}, prefix = "") =>
			write(engine().origin, "PUT", `${prefix}/register/${smallkey}`, { body: manual, ...signed }),

		remove: (smallkey: string, signed: Signed = {}) =>
			write(engine().origin, "DELETE", `/register/${smallkey}`, signed),

		/** Reads a fragment in both languages where a registration can be read at once; null: there is none. */
		async assertRead(smallkey: string, name: string | null): Promise<void> {
			if (!engine().published) return;
			for (const lang of ["en", "fr"]) {
				const answer = await ask(engine().origin, "GET", `/v0.9/doc/${lang}/${smallkey}`);
				assert.is(answer.status, name === null ? 404 : 200);
				if (name !== null) assert.equal(JSON.parse(answer.text), wmsFragment(smallkey, lang, name));
			}
		},

		async assertRefusal(
			status: number,
			what: string,
			send: () => Promise<Answer>,
			expected: string | RegExp | string[],
		): Promise<void> {
			const before = await engine().state();
			const answer = await send();
			assert.is(answer.status, status, `${what}: ${answer.text}`);
			assert.is(await engine().state(), before, `${what}: nothing is stored`);
			assert.is(answer.headers["content-type"], "application/json", what);
			assert.is(answer.headers["cache-control"], "no-store", what);
			assert.match(answer.headers["x-request-id"] ?? "", /^[\w-]+$/, what);
			assert.is(answer.headers.allow, status === 405 ? "DELETE, PUT" : undefined, what);
			const errors = errorsOf(answer);
			if (expected instanceof RegExp) assert.match(errors.join("\n"), expected, what);
			else assert.equal([...errors].sort(), [expected].flat().sort(), what);
		},
	};
}
