import { type ChangeOrigin, judgeChange, pathsByKey, smallkeyProblem } from "../registry/judge.ts";
import { canonicalText, kindOf, parseRegistration, type Registration } from "../registry/registration.ts";
import { isReviewName } from "../registry/sender.ts";
import { decodeSegment, descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, type TextCode, textOf } from "../registry/texts.ts";
import { isRefusal } from "../store/decide.ts";
import { blobId } from "../store/hashes.ts";
import type { Decide, Edit, Layer, Reader, Refusal } from "../store/store.ts";
import { matchesEtag } from "./reply.ts";
import type { Sender } from "./senders.ts";

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

export function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	return { status: statusOf[first.code] ?? 400, errors: problems };
}

type ParsedChange = Omit<RequestedChange, "smallkey" | "kind">;
export type ParseChange = (smallkey: string, body: Uint8Array) => ParsedChange | readonly Problem[];

const parseRegister: ParseChange = (smallkey, body) => {
	const { registration, problems } = judgeBody(smallkey, body);
	if (!registration) return problems;
	return {
		subject: `register ${smallkey} (${kindOf(registration)})`,
		decide: (now) => putEdits(now, smallkey, registration),
		registration: () => registration,
	};
};

const parseRemove: ParseChange = (smallkey, body) => {
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

export const judgeStored = (layer: Layer) => parseRegistration(encoder.encode(layer.registration), "stored");

export function parseStored(layer: Layer | null): Registration | null {
	return layer && judgeStored(layer).registration;
}

interface ChangeKind {
	parse: ParseChange;
	status: number;
	/** Absent: the receipt, as for every change that waits for a reviewer. */
	bodyOf?: (smallkey: string) => unknown;
}

/** A signed request that changes no layer. */
export interface Order {
	/** @param isFirst false if the request was used before @returns the answer */
	run(isFirst: boolean): unknown;
}

interface SignedRequest {
	target: string;
	body: Uint8Array;
	/** The header of a change; empty: not sent. */
	review: string;
}

export interface WriteRoute {
	/** For the log and the metrics. */
	name: string;
	method: "DELETE" | "POST" | "PUT";
	/** A pattern of its paths without the last segment, which is checked after the signature. */
	folder: string;
	/** Called once the signature is verified. */
	plan(request: SignedRequest, sender: Sender): RequestedChange | Order | Refusal;
}

/** The last segment of its paths is a smallkey. */
export function changeRoute(about: Omit<WriteRoute, "plan">, kind: ChangeKind): WriteRoute {
	return {
		...about,
		plan: (request, sender) => judgeReview(request.review) ?? parseChange(kind, request, sender),
	};
}

const folder = "(?:/v[12])?/register";

export const coreWrites: readonly WriteRoute[] = [
	/** DELETE <base>[/v1|/v2]/register/<smallkey>, with an empty body. */
	changeRoute({ name: "remove", method: "DELETE", folder }, { parse: parseRemove, status: 204 }),
	/** PUT <base>[/v1|/v2]/register/<smallkey> (RCS specification, "Write: register a layer"). */
	changeRoute({ name: "register", method: "PUT", folder }, { parse: parseRegister, status: 201 }),
];

function judgeReview(review: string): Refusal | null {
	if (review === "" || isReviewName(review)) return null;
	return { status: 400, errors: [problemAt("Review", "review-name", shownValue(review))] };
}

function parseChange(
	kind: ChangeKind,
	{ target, body }: SignedRequest,
	sender: Sender,
): RequestedChange | Refusal {
	const segment = target.slice(target.lastIndexOf("/") + 1);
	const text = decodeSegment(segment);
	const smallkey = parseSmallkey(text ?? "");
	if (smallkey === null) return { status: 400, errors: [smallkeyProblem(text ?? segment)] };
	const change = kind.parse(smallkey, body);
	if (!("decide" in change)) return refusalOf(change);
	const { problems } = judgeWritten(smallkey, sender);
	return problems.length > 0 ? refusalOf(problems) : { smallkey, kind, ...change };
}

/** `judgeWritten` checks the owner. */
export function judgeBody(smallkey: string, bytes: Uint8Array) {
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
