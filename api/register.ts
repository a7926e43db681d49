import { canonicalText } from "../registry/canonical.ts";
import { judgeFile } from "../registry/judge.ts";
import { judgeNames } from "../registry/judge-names.ts";
import { kindOf, parseRegistration, type Registration } from "../registry/registration.ts";
import { descriptionPath, folderOf, layerPath } from "../registry/smallkey.ts";
import { textOf } from "../registry/texts.ts";
import { blobId } from "../store/hashes.ts";
import type { Edit, Layer, Reader, Refusal } from "../store/store.ts";
import { type Asked, notRegistered, refusalOf } from "./write.ts";

/** Reads a PUT: a registration that replaces the stored one. */
export function askToRegister(smallkey: string, body: Uint8Array): Asked | Refusal {
	const { registration, problems } = judgeFile(
		{ path: layerPath(smallkey), kind: "file", bytes: body },
		"written",
	);
	if (!registration) return refusalOf(problems);
	return {
		smallkey,
		subject: `register ${smallkey} (${kindOf(registration)})`,
		edits: (now) => putEdits(now, smallkey, registration),
		registration: () => registration,
	};
}

export function askToRemove(smallkey: string, body: Uint8Array): Asked | Refusal {
	// The method is not signed: with a body, a captured PUT could be sent again as a DELETE.
	if (body.length > 0) return { status: 400, errors: [textOf("body-empty")] };
	return {
		smallkey,
		subject: `remove ${smallkey}`,
		edits: (now) => deleteEdits(now, smallkey),
		registration: () => null,
	};
}

/**
 * The edits that store a registration; none where it is stored already.
 * @param likeness how the two are compared: by `payload`, in any spelling, or by canonical `text`, without reading a
 * file
 */
export async function putEdits(
	now: Reader,
	smallkey: string,
	registration: Registration,
	likeness: "payload" | "text" = "payload",
): Promise<Edit[] | Refusal> {
	const path = layerPath(smallkey);
	const ids = await now.ids(smallkey);
	const names = (await now.keys(folderOf(smallkey))).map((key) => `${key}.json`);
	const problems = judgeNames([{ path, isRemoved: false }], () => names);
	if (problems.length > 0) return refusalOf(problems);
	const text = canonicalText(registration);
	if (ids && ids.registration === (await blobId(text))) return [];
	const isOther = !ids || ids.isCanonical === true;
	const stored = !isOther && likeness === "payload" ? await now.read(smallkey) : null;
	const known = parseStored(stored);
	if (known && canonicalText(known) === text) return [];
	const edits: Edit[] = [{ path, text }];
	if (ids?.description) {
		const before = known ?? parseStored(await now.read(smallkey));
		const isOfKind = before && kindOf(before) === kindOf(registration);
		if (!isOfKind) edits.push({ path: descriptionPath(smallkey), text: null });
	}
	return edits;
}

/** The stored registration; null where an invalid one was pushed. */
function parseStored(layer: Layer | null): Registration | null {
	return layer && parseRegistration(new TextEncoder().encode(layer.registration), "stored").registration;
}

async function deleteEdits(now: Reader, smallkey: string): Promise<Edit[] | Refusal> {
	const ids = await now.ids(smallkey);
	if (!ids) return notRegistered(smallkey);
	const edits: Edit[] = [{ path: layerPath(smallkey), text: null }];
	if (ids.description !== null) edits.push({ path: descriptionPath(smallkey), text: null });
	return edits;
}
