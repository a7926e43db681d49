import { parseJson } from "../registry/json.ts";
import { judgeFile } from "../registry/judge.ts";
import { textsOf } from "../registry/problems.ts";
import { parseRegistration, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { langs, layerPath } from "../registry/smallkey.ts";
import { textAt } from "../registry/texts.ts";
import { type Edits, isRefusal, type Refusal } from "../store/store.ts";
import { putEdits } from "./register.ts";
import { type Asked, notRegistered, refusalOf } from "./write.ts";

type Members = Readonly<Record<string, unknown>>;

/** Members that replace stored ones: of each language, and of the document. */
interface Update {
	en: Members;
	fr: Members;
	whole: Members;
}

/** Reads an update: members of either language or both, and of the document: `{"fr": {"service_name": "…"}}`. */
export function askToUpdate(smallkey: string, body: Uint8Array): Asked | Refusal {
	const members = readMembers(body);
	if (isRefusal(members)) return members;
	const { en = {}, fr = {}, ...whole } = members;
	for (const [lang, node] of Object.entries({ en, fr })) {
		if (!isObject(node)) return invalid(textAt(`/${lang}`, "object"));
	}
	return asked(smallkey, { en: en as Members, fr: fr as Members, whole }, "any layer");
}

/** Reads an update of a feature layer: members for both languages, or exactly `{"en": {…}, "fr": {…}}`. */
export function askToUpdateFeature(smallkey: string, body: Uint8Array): Asked | Refusal {
	const members = readMembers(body);
	if (isRefusal(members)) return members;
	const { en, fr } = members;
	const isByLang = Object.keys(members).length === langs.length && isObject(en) && isObject(fr);
	const update = isByLang ? { en, fr, whole: {} } : { en: members, fr: members, whole: {} };
	return asked(smallkey, update, "features");
}

/** Reads `{"factor": <int>, "user": <text>}`; the user is ignored. */
export function askToSimplify(smallkey: string, body: Uint8Array): Asked | Refusal {
	const members = readMembers(body);
	if (isRefusal(members)) return members;
	const { factor, user: _user, ...unknown } = members;
	const [name] = Object.keys(unknown);
	if (name !== undefined) return invalid(textAt(`/${name}`, "additionalProperties"));
	if (!Number.isInteger(factor)) return invalid(textAt("/factor", "whole-number"));
	const offset = { max_allowable_offset: factor };
	return asked(smallkey, { en: offset, fr: offset, whole: {} }, "features");
}

/** Parses a body that must be an object with at least one member. */
function readMembers(body: Uint8Array): Members | Refusal {
	const { value, problems } = parseJson(body);
	if (problems.length > 0) return { status: 400, errors: textsOf(problems) };
	if (!isObject(value)) return invalid(textAt("the document", "object"));
	return Object.keys(value).length > 0 ? value : invalid(textAt("the document", "members"));
}

function isObject(value: unknown): value is Members {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(error: string): Refusal {
	return { status: 400, errors: [error] };
}

/** Merges an update into the stored registration, and checks the result like a new registration. */
function asked(smallkey: string, update: Update, kind: "any layer" | "features"): Asked {
	let merged: Registration | null = null;
	const edits: Edits = async (now) => {
		const layer = await now.read(smallkey);
		if (!layer) return notRegistered(smallkey);
		const stored = parseRegistration(new TextEncoder().encode(layer.registration), "stored");
		if (!stored.registration) {
			const error = textAt("smallkey", "stored-invalid", smallkey);
			return { status: 409, errors: [error, ...textsOf(stored.problems)] };
		}
		if (kind === "features" && !isFeatureLayer(stored.registration)) {
			return invalid(textAt("smallkey", "not-feature", smallkey));
		}
		const { registration, problems } = merge(smallkey, stored.registration, update);
		if (!registration) return refusalOf(problems);
		merged = registration;
		return putEdits(now, smallkey, registration);
	};
	return { smallkey, subject: `update ${smallkey}`, edits, registration: () => merged };
}

function isFeatureLayer(registration: Registration): boolean {
	return langs.every((lang) => serviceTypeOf(registration, lang) === "esriFeature");
}

function merge(smallkey: string, stored: Registration, { en, fr, whole }: Update) {
	const merged = { ...stored, ...whole, en: { ...stored.en, ...en }, fr: { ...stored.fr, ...fr } };
	const bytes = new TextEncoder().encode(JSON.stringify(merged));
	return judgeFile({ path: layerPath(smallkey), kind: "file", bytes }, "written");
}
