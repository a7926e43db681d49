import { parseJson } from "../registry/json.ts";
import { judgeChange, type Who } from "../registry/judge.ts";
import {
	canonicalText,
	kindOf,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../registry/registration.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, type TextCode, textOf } from "../registry/texts.ts";
import { isObject } from "../registry/untrusted-text.ts";
import { blobId, matchesEtag } from "../store/hashes.ts";
import { type Edit, type Edits, isRefusal, type Layer, type Reader, type Refusal } from "../store/store.ts";
import type { WriteAction } from "./app.ts";

export interface RequestedChange {
	smallkey: string;
	/** `register 23ax5t (wms)` */
	subject: string;
	edits: Edits;
	registration: () => Registration | null;
}

const statusOf: Readonly<Partial<Record<TextCode, number>>> = {
	"case-twin": 409,
	"not-registered": 404,
	owner: 403,
	"stored-invalid": 409,
};

function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	return { status: statusOf[first.code] ?? 400, errors: [...problems] };
}

function parseRegister(smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal {
	const { registration, problems } = judgeBody(smallkey, body, sender);
	if (!registration) return refusalOf(problems);
	return {
		smallkey,
		subject: `register ${smallkey} (${kindOf(registration)})`,
		edits: (now) => putEdits(now, smallkey, registration),
		registration: () => registration,
	};
}

function parseRemove(smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal {
	// The method is not signed: a captured PUT could be sent again as a DELETE.
	if (body.length > 0) return refusalOf([problemAt("", "body-empty")]);
	const { problems } = judgeWritten(smallkey, sender);
	if (problems.length > 0) return refusalOf(problems);
	return {
		smallkey,
		subject: `remove ${smallkey}`,
		edits: async (now) => {
			const ids = await now.ids(smallkey);
			if (!ids) return refusalOf([problemAt("smallkey", "not-registered", smallkey)]);
			const paths = [layerPath(smallkey), ...(ids.description === null ? [] : [descriptionPath(smallkey)])];
			return paths.map((path) => ({ path, text: null }));
		},
		registration: () => null,
	};
}

/** None if the registration is stored already. `text` compares only the canonical text, and reads no file. */
export async function putEdits(
	now: Reader,
	smallkey: string,
	registration: Registration,
	comparison: "payload" | "text" = "payload",
): Promise<Edit[] | Refusal> {
	const ids = await now.ids(smallkey);
	const names = (await now.spellings(smallkey)).map((key) => `${key}.json`);
	const { problems } = judgeWritten(smallkey, "anyone", () => names);
	if (problems.length > 0) return refusalOf(problems);
	const text = canonicalText(registration);
	if (ids && ids.registration === (await blobId(text))) return [];
	const stored = ids && comparison === "payload" ? await now.read(smallkey) : null;
	const parsed = parseStored(stored);
	if (parsed && canonicalText(parsed) === text) return [];
	const edits: Edit[] = [{ path: layerPath(smallkey), text }];
	if (ids?.description) {
		const before = parsed ?? parseStored(await now.read(smallkey));
		const isOfKind = before && kindOf(before) === kindOf(registration);
		if (!isOfKind) edits.push({ path: descriptionPath(smallkey), text: null });
	}
	return edits;
}

export function parseStored(layer: Layer | null): Registration | null {
	return layer && parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}

function wrongType(place: string, type: "an-object" | "an-integer", value: unknown): Problem {
	return problemAt(place, "type", textOf(type), shownValue(value));
}

type Members = Readonly<Record<string, unknown>>;
type Update = Readonly<Partial<Record<Lang | "whole", Members>>>;

function updateParser(kind: "any layer" | "features", updateOf: (members: Members) => Update | Problem) {
	return (smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal => {
		const { value, problems } = parseJson(body);
		if (problems.length > 0) return refusalOf(problems);
		if (!isObject(value)) return refusalOf([wrongType("document", "an-object", value)]);
		if (Object.keys(value).length === 0) return refusalOf([problemAt("document", "minProperties")]);
		const update = updateOf(value);
		if ("code" in update) return refusalOf([update]);
		const judged = judgeWritten(smallkey, sender);
		return judged.problems.length > 0 ? refusalOf(judged.problems) : requestUpdate(smallkey, update, kind);
	};
}

const parseUpdate = updateParser("any layer", ({ en = {}, fr = {}, ...whole }) => {
	if (!isObject(en)) return wrongType("/en", "an-object", en);
	return isObject(fr) ? { en, fr, whole } : wrongType("/fr", "an-object", fr);
});

const parseUpdateFeature = updateParser("features", (members) => {
	const { en, fr } = members;
	const isByLang = Object.keys(members).length === langs.length && isObject(en) && isObject(fr);
	return isByLang ? { en, fr } : { en: members, fr: members };
});

/** The member `user` is ignored. */
const parseSimplify = updateParser("features", ({ factor, user: _user, ...unknown }) => {
	const [name] = Object.keys(unknown);
	if (name !== undefined) return problemAt(`/${name}`, "additionalProperties");
	if (!Number.isInteger(factor)) return wrongType("/factor", "an-integer", factor);
	const offset = { max_allowable_offset: factor };
	return { en: offset, fr: offset };
});

function requestUpdate(
	smallkey: string,
	{ en, fr, whole }: Update,
	kind: "any layer" | "features",
): RequestedChange {
	let merged: Registration | null = null;
	const edits: Edits = async (now) => {
		const layer = await now.read(smallkey);
		if (!layer) return refusalOf([problemAt("smallkey", "not-registered", smallkey)]);
		const stored = parseRegistration(new TextEncoder().encode(layer.registration), "stored");
		if (!stored.registration)
			return refusalOf([problemAt("smallkey", "stored-invalid", smallkey), ...stored.problems]);
		const before = stored.registration;
		const isFeature = langs.every((lang) => serviceTypeOf(before, lang) === "esriFeature");
		if (kind === "features" && !isFeature) return refusalOf([problemAt("smallkey", "not-feature", smallkey)]);
		const merge = { ...before, ...whole, en: { ...before.en, ...en }, fr: { ...before.fr, ...fr } };
		const body = new TextEncoder().encode(JSON.stringify(merge));
		const { registration, problems } = judgeBody(smallkey, body, "anyone");
		if (!registration) return refusalOf(problems);
		merged = registration;
		return putEdits(now, smallkey, registration);
	};
	return { smallkey, subject: `update ${smallkey}`, edits, registration: () => merged };
}

interface ChangeKind {
	parse(smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal;
	status: number;
	/** Without it, and while the change waits for a reviewer, the body is the receipt. */
	bodyOf?: (smallkey: string) => unknown;
}

export const changeKinds: Readonly<Record<Exclude<WriteAction, "refresh">, ChangeKind>> = {
	/** PUT <base>/register/<smallkey>, /v1/register/… and /v2/register/… (specification, "Write: register a layer"). */
	register: { parse: parseRegister, status: 201 },
	/** DELETE <base>/register/<smallkey>, /v1/register/… and /v2/register/…, with an empty body. */
	remove: { parse: parseRemove, status: 204 },
	/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
	update: { parse: parseUpdate, status: 200, bodyOf: (key) => ({ msg: "Updated", key }) },
	/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
	updateFeature: { parse: parseUpdateFeature, status: 200, bodyOf: (key) => key },
	/** PUT <base>/v1/simplification/<smallkey>: `max_allowable_offset` of a feature layer. */
	simplify: { parse: parseSimplify, status: 200, bodyOf: (key) => key },
};

function judgeBody(smallkey: string, bytes: Uint8Array, who: Who) {
	const file = { path: layerPath(smallkey), kind: "file", bytes } as const;
	const { layers, problems } = judgeChange(null, [file], who);
	return { registration: problems.length > 0 ? null : layers.get(smallkey)?.registration, problems };
}

function judgeWritten(smallkey: string, who: Who, names: (() => string[]) | null = null) {
	return judgeChange(names, [{ path: layerPath(smallkey), kind: "written" }], who);
}

/** RFC 9110, section 13.1. Not signed; empty: not sent. */
export interface Conditions {
	ifMatch: string;
	ifNoneMatch: string;
}

/** The git blob id: neither a harvest nor a change of another layer alters it. */
export function registrationEtag(blob: string): string {
	return `"${blob}"`;
}

/**
 * Refuses edits with 412 if a condition does not hold on their state. `etag`: of the registration that they
 * leave.
 */
export function conditionalEdits(smallkey: string, edits: Edits, conditions: Conditions) {
	let etag: string | null = null;
	const decide: Edits = async (now) => {
		const proposed = await edits(now);
		// A request that is refused in any case is refused for that reason (RFC 9110, section 13.2.1).
		if (isRefusal(proposed)) return proposed;
		const ids = await now.ids(smallkey);
		const before = ids && registrationEtag(ids.registration);
		const { text } = proposed.find(({ path }) => path === layerPath(smallkey)) ?? {};
		etag = text === undefined ? before : text && registrationEtag(await blobId(text));
		const refusal = judgeConditions(smallkey, conditions, before);
		return refusal ? { ...refusal, isDone: proposed.length === 0 } : proposed;
	};
	return { edits: decide, etag: () => etag };
}

const maxShownLength = 80;

function judgeConditions(
	smallkey: string,
	{ ifMatch, ifNoneMatch }: Conditions,
	etag: string | null,
): Refusal | null {
	const unmet = (header: string, text: string): Refusal => {
		const values = [text.slice(0, maxShownLength), smallkey];
		return { status: 412, errors: [problemAt(header, "condition", ...values, etag ?? textOf("nothing"))] };
	};
	if (ifMatch !== "" && (etag === null || !matchesEtag(ifMatch, etag))) return unmet("If-Match", ifMatch);
	if (ifNoneMatch !== "" && etag !== null && matchesEtag(ifNoneMatch, etag))
		return unmet("If-None-Match", ifNoneMatch);
	return null;
}
