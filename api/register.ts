import { parseJson } from "../registry/json.ts";
import { type ChangeOrigin, judgeChange, pathsByKey, smallkeyProblem } from "../registry/judge.ts";
import {
	canonicalText,
	kindOf,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../registry/registration.ts";
import {
	decodeSegment,
	descriptionPath,
	type Lang,
	langs,
	layerPath,
	parseSmallkey,
} from "../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, type TextCode, textOf } from "../registry/texts.ts";
import { isObject } from "../registry/untrusted.ts";
import { isRefusal } from "../store/decide.ts";
import { blobId } from "../store/hashes.ts";
import type { Decide, Edit, Layer, Reader, Refusal } from "../store/store.ts";
import type { WriteAction } from "./app.ts";
import { matchesEtag } from "./reply.ts";

const encoder = new TextEncoder();

export interface RequestedChange {
	smallkey: string;
	/** `register 23ax5t (wms)` */
	subject: string;
	decide: Decide;
	/** An update's is known once decided. */
	registration: () => Registration | null;
	kind: ChangeKind;
}

const statusOf: Readonly<Partial<Record<TextCode, number>>> = {
	"case-twin": 409,
	"not-registered": 404,
	owner: 403,
	"stored-invalid": 409,
};

function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	return { status: statusOf[first.code] ?? 400, errors: problems };
}

type ParsedChange = Omit<RequestedChange, "smallkey" | "kind">;
type Parse = (smallkey: string, body: Uint8Array) => ParsedChange | readonly Problem[];

const parseRegister: Parse = (smallkey, body) => {
	const { registration, problems } = judgeBody(smallkey, body);
	if (!registration) return problems;
	return {
		subject: `register ${smallkey} (${kindOf(registration)})`,
		decide: (now) => putEdits(now, smallkey, registration),
		registration: () => registration,
	};
};

const parseRemove: Parse = (smallkey, body) => {
	// The method is not signed: a captured PUT could come back as a DELETE.
	if (body.length > 0) return [problemAt("", "body-empty")];
	return {
		subject: `remove ${smallkey}`,
		decide: async (now) => {
			const ids = await now.ids(smallkey);
			if (!ids) return refusalOf([problemAt("smallkey", "not-registered", smallkey)]);
			const paths = [layerPath(smallkey), ...(ids.description === null ? [] : [descriptionPath(smallkey)])];
			return paths.map((path) => ({ path, text: null }));
		},
		registration: () => null,
	};
};

/** None if stored already. `text` compares canonical texts, without reading the stored file. */
export async function putEdits(
	now: Reader,
	smallkey: string,
	registration: Registration,
	comparison: "payload" | "text" = "payload",
): Promise<Edit[] | Refusal> {
	const ids = await now.ids(smallkey);
	const { problems } = judgeWritten(smallkey, "anyone", await now.spellings(smallkey));
	if (problems.length > 0) return refusalOf(problems);
	const text = canonicalText(registration);
	if (ids && ids.registration === (await blobId(text))) return [];
	const isPayload = comparison === "payload";
	const before = ids && (isPayload || ids.description) ? parseStored(await now.read(smallkey)) : null;
	if (isPayload && before && canonicalText(before) === text) return [];
	const edits: Edit[] = [{ path: layerPath(smallkey), text }];
	const isOfKind = before && kindOf(before) === kindOf(registration);
	if (ids?.description && !isOfKind) edits.push({ path: descriptionPath(smallkey), text: null });
	return edits;
}

const judgeStored = (layer: Layer) => parseRegistration(encoder.encode(layer.registration), "stored");

export function parseStored(layer: Layer | null): Registration | null {
	return layer && judgeStored(layer).registration;
}

function wrongType(place: string, type: "an-object" | "an-integer", value: unknown): Problem {
	return problemAt(place, "type", textOf(type), shownValue(value));
}

type ChangedMembers = Readonly<Record<string, unknown>>;

/** `whole`: members beside `en` and `fr`. */
type Update = Readonly<Partial<Record<Lang | "whole", ChangedMembers>>>;

function updateParser(
	kind: "any layer" | "features",
	updateOf: (members: ChangedMembers) => Update | Problem,
): Parse {
	return (smallkey, body) => {
		const { value, problems } = parseJson(body);
		if (problems.length > 0) return problems;
		if (!isObject(value)) return [wrongType("document", "an-object", value)];
		if (Object.keys(value).length === 0) return [problemAt("document", "minProperties")];
		const update = updateOf(value);
		if ("code" in update) return [update];
		let merged: Registration | null = null;
		const decide: Decide = async (now) => {
			const layer = await now.read(smallkey);
			if (!layer) return refusalOf([problemAt("smallkey", "not-registered", smallkey)]);
			const { registration: before, problems } = judgeStored(layer);
			if (!before) return refusalOf([problemAt("smallkey", "stored-invalid", smallkey), ...problems]);
			const isFeature = langs.every((lang) => serviceTypeOf(before, lang) === "esriFeature");
			if (kind === "features" && !isFeature)
				return refusalOf([problemAt("smallkey", "not-feature", smallkey)]);
			const { en, fr, whole } = update;
			const merge = { ...before, ...whole, en: { ...before.en, ...en }, fr: { ...before.fr, ...fr } };
			const judged = judgeBody(smallkey, encoder.encode(JSON.stringify(merge)));
			if (!judged.registration) return refusalOf(judged.problems);
			merged = judged.registration;
			return putEdits(now, smallkey, merged);
		};
		return { subject: `update ${smallkey}`, decide, registration: () => merged };
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

interface ChangeKind {
	parse: Parse;
	status: number;
	/** Absent: the receipt, as for every change that waits for a reviewer. */
	bodyOf?: (smallkey: string) => unknown;
}

const changeKinds: Readonly<Record<Exclude<WriteAction, "refresh">, ChangeKind>> = {
	/** PUT <base>[/v1|/v2]/register/<smallkey> (RCS specification, "Write: register a layer"). */
	register: { parse: parseRegister, status: 201 },
	/** DELETE <base>[/v1|/v2]/register/<smallkey>, with an empty body. */
	remove: { parse: parseRemove, status: 204 },
	/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
	update: { parse: parseUpdate, status: 200, bodyOf: (key) => ({ msg: "Updated", key }) },
	/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
	updateFeature: { parse: parseUpdateFeature, status: 200, bodyOf: (key) => key },
	/** PUT <base>/v1/simplification/<smallkey>: `max_allowable_offset` of a feature layer. */
	simplify: { parse: parseSimplify, status: 200, bodyOf: (key) => key },
};

export function parseChange(
	action: keyof typeof changeKinds,
	target: string,
	body: Uint8Array,
	sender: ChangeOrigin,
): RequestedChange | Refusal {
	const segment = target.slice(target.lastIndexOf("/") + 1);
	const text = decodeSegment(segment);
	const smallkey = parseSmallkey(text ?? "");
	if (smallkey === null) return { status: 400, errors: [smallkeyProblem(text ?? segment)] };
	const kind = changeKinds[action];
	const change = kind.parse(smallkey, body);
	if (!("decide" in change)) return refusalOf(change);
	const { problems } = judgeWritten(smallkey, sender);
	return problems.length > 0 ? refusalOf(problems) : { smallkey, kind, ...change };
}

/** `judgeWritten` checks the owner. */
function judgeBody(smallkey: string, bytes: Uint8Array) {
	const file = { path: layerPath(smallkey), kind: "file", bytes } as const;
	const { layers, problems } = judgeChange(null, [file], "anyone");
	return { registration: problems.length > 0 ? null : layers.get(smallkey)?.registration, problems };
}

function judgeWritten(smallkey: string, origin: ChangeOrigin, spellings: readonly string[] | null = null) {
	const before = spellings && pathsByKey(spellings.map((key) => ({ path: layerPath(key) })));
	return judgeChange(before, [{ path: layerPath(smallkey), kind: "written" }], origin);
}

/** Unchanged by a harvest or another layer. */
export function registrationEtag(blob: string): string {
	return `"${blob}"`;
}

const maxShownLength = 80;

/**
 * Refuses with 412 (RFC 9110, section 13.1). `etag`: of the registration that the edits leave.
 * @param conditions unsigned; empty: not sent
 */
export function addConditions(
	smallkey: string,
	decide: Decide,
	{ ifMatch, ifNoneMatch }: { ifMatch: string; ifNoneMatch: string },
) {
	let etag: string | null = null;
	const decideOnConditions: Decide = async (now) => {
		const proposed = await decide(now);
		// Another refusal comes first (RFC 9110, section 13.2.1).
		if (isRefusal(proposed)) return proposed;
		const ids = await now.ids(smallkey);
		const before = ids && registrationEtag(ids.registration);
		const { text } = proposed.find(({ path }) => path === layerPath(smallkey)) ?? {};
		etag = text === undefined ? before : text && registrationEtag(await blobId(text));
		const matches = (tags: string) => before !== null && matchesEtag(tags, before);
		const refuseFor = (header: string, tags: string): Refusal => {
			const shown = tags.slice(0, maxShownLength);
			const problem = problemAt(header, "condition", shown, smallkey, before ?? textOf("nothing"));
			return { status: 412, errors: [problem], isDone: proposed.length === 0 };
		};
		if (ifMatch !== "" && !matches(ifMatch)) return refuseFor("If-Match", ifMatch);
		return matches(ifNoneMatch) ? refuseFor("If-None-Match", ifNoneMatch) : proposed;
	};
	return { decide: decideOnConditions, etag: () => etag };
}
