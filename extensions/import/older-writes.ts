import {
	changeRoute,
	judgeBody,
	judgeStored,
	type Order,
	type ParseChange,
	putEdits,
	refusalOf,
	type WriteRoute,
} from "../../api/register.ts";
import { parseJson } from "../../registry/json.ts";
import { type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs, mayChange } from "../../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, textOf } from "../../registry/texts.ts";
import { isObject } from "../../registry/untrusted.ts";
import type { Decide, Refusal } from "../../store/store.ts";
import type { Refresh } from "../harvest/harvester/harvester.ts";

/** Returns how many layers are harvested again. */
export type RefreshLayers = (selection: Refresh) => number;

/** Publishers of the older service send these. @param refresh null without a harvest */
export function olderWrites(refresh: RefreshLayers | null): readonly WriteRoute[] {
	const [put, post] = [{ method: "PUT" }, { method: "POST", name: "refresh" }] as const;
	const bodyOf = (key: string) => key;
	const plan: WriteRoute["plan"] = ({ target, body }, sender) =>
		parseRefresh(target, body, refresh, (smallkey) => mayChange(sender, smallkey));
	return [
		/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
		changeRoute(
			{ ...put, name: "update", folder: "/v2/update(?:/2\\.0)?" },
			{ parse: parseUpdate, status: 200, bodyOf: (key) => ({ msg: "Updated", key }) },
		),
		/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
		changeRoute(
			{ ...put, name: "updateFeature", folder: "/v1/updatefeature" },
			{ parse: parseUpdateFeature, status: 200, bodyOf },
		),
		/** PUT <base>/v1/simplification/<smallkey>: `max_allowable_offset` of a feature layer. */
		changeRoute(
			{ ...put, name: "simplify", folder: "/v1/simplification" },
			{ parse: parseSimplify, status: 200, bodyOf },
		),
		{ ...post, folder: "/v1/update", plan },
		{ ...post, folder: "/v2/refresh(?:/[^/]*)?", plan },
	];
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
): ParseChange {
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
			const judged = judgeBody(smallkey, new TextEncoder().encode(JSON.stringify(merge)));
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

const refreshPath = /\/(?:update|refresh)\/(?:(all)|(\d{1,5}))(?:\/([1-9]\d{0,6}))?$/;

const dayMs = 86_400_000;

/**
 * POST <base>/v1/update/<all or days> and <base>/v2/refresh/<all or days>[/<limit>], with an empty body:
 * harvests the layers that the sender may change, and answers with their number.
 */
function parseRefresh(
	target: string,
	body: Uint8Array,
	refresh: RefreshLayers | null,
	isWanted: (smallkey: string) => boolean,
): Order | Refusal {
	if (body.length > 0) return { status: 400, errors: [problemAt("", "body-empty")] };
	const match = refreshPath.exec(target);
	if (!match) return { status: 400, errors: [problemAt("path", "path-refresh")] };
	if (!refresh) return { status: 409, errors: [problemAt("", "no-harvest")] };
	const [, all, days, maxLayers] = match;
	const selection = {
		olderThanMs: all === undefined ? Number(days) * dayMs : null,
		maxLayers: maxLayers === undefined ? null : Number(maxLayers),
		isWanted,
	};
	return { run: (isFirst) => ({ layers: isFirst ? refresh(selection) : 0 }) };
}
