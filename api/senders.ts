import { parseJson } from "../registry/json.ts";
import { isSenderId, type PublicName } from "../registry/sender.ts";
import { langs } from "../registry/smallkey.ts";
import { textsOf } from "../registry/texts.ts";
import { parseTimestamp } from "../registry/timestamp.ts";
import { isObject } from "../registry/untrusted.ts";

export interface Sender {
	id: string;
	/** Never logged. */
	secret: string;
	/** `until` null: forever. */
	previous: { secret: string; until: Date | null } | null;
	/** Globs; null: all. */
	smallkeys: string[] | null;
	review: boolean;
	name: PublicName | null;
	contact: string | null;
}

export type Senders = ReadonlyMap<string, Sender>;

/**
 * @param text id → secret, or id → `{"key"}` with any of `optionalMembers`
 * @param place for the errors: `SENDERS` or a path
 * @throws {Error} that never names a secret
 */
export function parseSenders(text: string, place: string): Senders {
	const { value, problems } = parseJson(new TextEncoder().encode(text));
	if (problems.length > 0)
		throw new Error(Array.from(textsOf(problems), (line) => `${place}: ${line}`).join("\n"));
	if (!isObject(value)) throw new Error(`${place}: must be an object of sender id → secret`);
	const senders = new Map(Object.entries(value).map(([id, entry]) => [id, parseSender(id, entry, place)]));
	const ids = new Map<string, string>();
	for (const { id, secret, previous } of senders.values()) {
		for (const key of previous ? [secret, previous.secret] : [secret]) {
			const owner = ids.get(key);
			if (owner === id) throw new Error(`${place}: sender ${id}: previous_key must not be its key`);
			if (owner !== undefined)
				throw new Error(`${place}: senders ${owner} and ${id} must not share a secret`);
			ids.set(key, id);
		}
	}
	return senders;
}

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isTime = (value: unknown) => typeof value === "string" && parseTimestamp(value) !== null;
const isLine = (value: unknown) => typeof value === "string" && /^[^\p{C}\u2028\u2029]{1,200}$/u.test(value);
const isGlobs = (value: unknown) => Array.isArray(value) && value.every((glob) => typeof glob === "string");
const line = "must be a text of one line, at most 200 characters";

const optionalMembers = new Map<string, [fits: (value: unknown) => boolean, rule: string]>([
	["review", [(value) => typeof value === "boolean", "must be true or false"]],
	["smallkeys", [(value) => value === null || isGlobs(value), "must be a list of globs"]],
	["previous_key", [isText, "must not be empty"]],
	["previous_key_until", [isTime, "must be an ISO 8601 time"]],
	["name", [(value) => isObject(value) || isLine(value), line]],
	["contact", [isLine, line]],
]);

function parseSender(id: string, entry: unknown, place: string): Sender {
	const refuse = (rule: string): never => {
		throw new Error(`${place}: sender ${JSON.stringify(id)}: ${rule}`);
	};
	if (!isSenderId(id)) refuse("an id must be 1 to 64 of A-Z a-z 0-9 . _ -");
	const fields = typeof entry === "string" ? { key: entry } : entry;
	if (!isObject(fields)) return refuse("must be a secret or an object");
	const { key, ...members } = fields;
	for (const [member, value] of Object.entries(members)) {
		const [fits, rule] = optionalMembers.get(member) ?? refuse(`${member} is not a known member`);
		if (!fits(value)) refuse(`${member} ${rule}`);
	}
	if (!isText(key)) refuse("the secret must not be empty");
	const { previous_key, previous_key_until: until, smallkeys = null, review = false, name = null } = members;
	if (until !== undefined && previous_key === undefined) refuse("previous_key must not be empty");
	if (isObject(name)) {
		const { en, fr, ...unknown } = name;
		for (const member of Object.keys(unknown)) refuse(`name must have en and fr only, not ${member}`);
		if (!en || !fr) refuse("name must be a text, or one in en and one in fr");
		for (const lang of langs) if (!isLine(name[lang])) refuse(`name.${lang} ${line}`);
	}
	const end = typeof until === "string" ? new Date(parseTimestamp(until) as number) : null;
	const previous = previous_key === undefined ? null : { secret: previous_key, until: end };
	return { id, secret: key, previous, smallkeys, review, name, contact: members.contact ?? null } as Sender;
}
