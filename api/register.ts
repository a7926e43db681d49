import { parseJson } from "../registry/json.ts";
import { judgeChange, type Who } from "../registry/judge.ts";
import {
	canonicalText,
	kindOf,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../registry/registration.ts";
import { descriptionPath, folderOf, type Lang, langs, layerPath } from "../registry/smallkey.ts";
import { type Problem, problemAt, type TextCode } from "../registry/texts.ts";
import { isObject } from "../registry/untrusted-text.ts";
import { blobId } from "../store/hashes.ts";
import type { Edit, Edits, Layer, Reader, Refusal } from "../store/store.ts";
import type { WriteAction } from "./app.ts";

export interface RequestedChange {
	smallkey: string;
	/** The commit's: `register 23ax5t (wms)`. */
	subject: string;
	edits: Edits;
	/** After `edits` was called; null for a removal. */
	registration: () => Registration | null;
}

/** Code of a problem → status, if it is not 400. */
const statusOf: Readonly<Partial<Record<TextCode, number>>> = {
	"case-twin": 409,
	"case-twin-here": 409,
	owner: 403,
};

export function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	const errors = problems.map((problem) =>
		problem.code === "size" ? problemAt("", "size-of-document", ...problem.values) : problem,
	);
	return { status: statusOf[first.code] ?? 400, errors };
}

function notRegistered(smallkey: string): Refusal {
	return { status: 404, errors: [problemAt("smallkey", "not-registered", smallkey)] };
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
	// The method is not signed: with a body, a captured PUT could be sent again as a DELETE.
	if (body.length > 0) return { status: 400, errors: [problemAt("", "body-empty")] };
	const refusal = judgeSender(smallkey, sender);
	if (refusal) return refusal;
	return {
		smallkey,
		subject: `remove ${smallkey}`,
		edits: async (now) => {
			const ids = await now.ids(smallkey);
			if (!ids) return notRegistered(smallkey);
			const paths = [layerPath(smallkey), ...(ids.description === null ? [] : [descriptionPath(smallkey)])];
			return paths.map((path) => ({ path, text: null }));
		},
		registration: () => null,
	};
}

/**
 * None if the registration is stored already. `comparison`: of the parsed `payload`, which may be spelt
 * differently, or only of the canonical `text`, which reads no file.
 */
export async function putEdits(
	now: Reader,
	smallkey: string,
	registration: Registration,
	comparison: "payload" | "text" = "payload",
): Promise<Edit[] | Refusal> {
	const path = layerPath(smallkey);
	const ids = await now.ids(smallkey);
	const names = (await now.keys(folderOf(smallkey), smallkey)).map((key) => `${key}.json`);
	const { problems } = judgeChange(() => names, [{ path, kind: "written" }], "anyone");
	if (problems.length > 0) return refusalOf(problems);
	const text = canonicalText(registration);
	if (ids && ids.registration === (await blobId(text))) return [];
	const isOther = !ids || ids.isCanonical === true;
	const stored = !isOther && comparison === "payload" ? await now.read(smallkey) : null;
	const parsed = parseStored(stored);
	if (parsed && canonicalText(parsed) === text) return [];
	const edits: Edit[] = [{ path, text }];
	if (ids?.description) {
		const before = parsed ?? parseStored(await now.read(smallkey));
		const isOfKind = before && kindOf(before) === kindOf(registration);
		if (!isOfKind) edits.push({ path: descriptionPath(smallkey), text: null });
	}
	return edits;
}

function parseStored(layer: Layer | null): Registration | null {
	return layer && parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}

type Members = Readonly<Record<string, unknown>>;

/** Members that replace stored ones: of each language, and of the document. */
type Update = Readonly<Partial<Record<Lang | "whole", Members>>>;

/** @param updateOf what the members of the body replace, or a problem */
function updateParser(kind: "any layer" | "features", updateOf: (members: Members) => Update | Problem) {
	return (smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal => {
		const { value, problems } = parseJson(body);
		if (problems.length > 0) return { status: 400, errors: problems };
		if (!isObject(value)) return invalid(problemAt("document", "object"));
		if (Object.keys(value).length === 0) return invalid(problemAt("document", "members"));
		const update = updateOf(value);
		if ("code" in update) return invalid(update);
		return judgeSender(smallkey, sender) ?? requestUpdate(smallkey, update, kind);
	};
}

/** Members of either language or both, and of the document: `{"fr": {"service_name": "…"}}`. */
const parseUpdate = updateParser("any layer", ({ en = {}, fr = {}, ...whole }) => {
	if (!isObject(en)) return problemAt("/en", "object");
	return isObject(fr) ? { en, fr, whole } : problemAt("/fr", "object");
});

/** Members for both languages, or exactly `{"en": {…}, "fr": {…}}`. */
const parseUpdateFeature = updateParser("features", (members) => {
	const { en, fr } = members;
	const isByLang = Object.keys(members).length === langs.length && isObject(en) && isObject(fr);
	return isByLang ? { en, fr } : { en: members, fr: members };
});

/** `{"factor": <int>, "user": <text>}`; the user is ignored. */
const parseSimplify = updateParser("features", ({ factor, user: _user, ...unknown }) => {
	const [name] = Object.keys(unknown);
	if (name !== undefined) return problemAt(`/${name}`, "additionalProperties");
	if (!Number.isInteger(factor)) return problemAt("/factor", "whole-number");
	const offset = { max_allowable_offset: factor };
	return { en: offset, fr: offset };
});

function invalid(error: Problem): Refusal {
	return { status: 400, errors: [error] };
}

/** The merged result is checked like a new registration. */
function requestUpdate(
	smallkey: string,
	{ en, fr, whole }: Update,
	kind: "any layer" | "features",
): RequestedChange {
	let merged: Registration | null = null;
	const edits: Edits = async (now) => {
		const layer = await now.read(smallkey);
		if (!layer) return notRegistered(smallkey);
		const stored = parseRegistration(new TextEncoder().encode(layer.registration), "stored");
		if (!stored.registration) {
			const error = problemAt("smallkey", "stored-invalid", smallkey);
			return { status: 409, errors: [error, ...stored.problems] };
		}
		const before = stored.registration;
		const isFeature = langs.every((lang) => serviceTypeOf(before, lang) === "esriFeature");
		if (kind === "features" && !isFeature) return invalid(problemAt("smallkey", "not-feature", smallkey));
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
	/** Judges what needs no store: the payload, then whether the sender may change the layer. */
	parse(smallkey: string, body: Uint8Array, sender: Who): RequestedChange | Refusal;
	status: number;
	/** Without it, and while the change waits for a reviewer, the body is the receipt. */
	bodyOf?: (smallkey: string) => unknown;
}

const asKey = (smallkey: string) => smallkey;

export const changeKinds: Readonly<Record<Exclude<WriteAction, "refresh">, ChangeKind>> = {
	/**
	 * PUT <base>/register/<smallkey>, /v1/register/… and /v2/register/… (specification, "Write: register a
	 * layer").
	 */
	register: { parse: parseRegister, status: 201 },
	/** DELETE <base>/register/<smallkey>, /v1/register/… and /v2/register/…, with an empty body. */
	remove: { parse: parseRemove, status: 204 },
	/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
	update: { parse: parseUpdate, status: 200, bodyOf: (key) => ({ msg: "Updated", key }) },
	/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
	updateFeature: { parse: parseUpdateFeature, status: 200, bodyOf: asKey },
	/** PUT <base>/v1/simplification/<smallkey>: `max_allowable_offset` of a feature layer. */
	simplify: { parse: parseSimplify, status: 200, bodyOf: asKey },
};

/** Only the store knows the names of stored layers. */
function judgeBody(smallkey: string, bytes: Uint8Array, who: Who) {
	const file = { path: layerPath(smallkey), kind: "file", bytes } as const;
	const { layers, problems } = judgeChange(null, [file], who);
	return { registration: problems.length > 0 ? null : layers.get(smallkey)?.registration, problems };
}

function judgeSender(smallkey: string, sender: Who): Refusal | null {
	const { problems } = judgeChange(null, [{ path: layerPath(smallkey), kind: "written" }], sender);
	return problems.length > 0 ? refusalOf(problems) : null;
}
