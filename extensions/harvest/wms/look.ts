import { decode, hasPngSignature } from "fast-png";
import { withoutParameters } from "../../../registry/addresses.ts";
import { type Cause, causeOf } from "../../../site/data/health.ts";
import { isLatitudeFirst } from "../../../site/service/boxes.ts";
import type { Capabilities, CapabilitiesLayer } from "../../../site/service/capabilities.ts";
import { quote } from "../../../site/service/decode.ts";
import { exceptionIn } from "../../../site/service/read-capabilities.ts";
import {
	type PictureFacts,
	type PictureRequest,
	pictureFactsOf,
	pictureRequest,
	referencesFor,
	withParameters,
} from "../../../site/service/requests.ts";
import { type Ask, Trouble } from "../ask.ts";
import { pictureSide, placesIn } from "./places.ts";

interface Subject {
	address: string;
	name: string;
	capabilities: Capabilities;
	/** Null if not listed. */
	layer: CapabilitiesLayer | null;
	mapWkid: number;
}

/**
 * Requests pictures as the document says, until one is not blank.
 * @throws {Trouble} if there is no picture, or all are blank where the layer must be drawn
 */
export async function lookAtWms(subject: Subject, ask: Ask): Promise<{ isDrawn: boolean; notes: Cause[] }> {
	const { capabilities, layer, name } = subject;
	const facts = pictureFactsOf(capabilities, layer);
	const first = await findFirstPicture(subject, facts, ask);
	const notSeen = causeOf("not-seen", quote(name));
	if (!first) return { isDrawn: false, notes: [notSeen] };
	const { request, places, notes } = first;
	for (const [at, box] of places.boxes.entries()) {
		const picture = at === 0 ? first.picture : await askPicture(request, box, facts, ask);
		if (picture instanceof Trouble) throw picture;
		if (isBlank(picture)) continue;
		const names = facts.dimensions.map(({ name }) => name).join(", ");
		if (names === "") return { isDrawn: true, notes };
		// Most viewers send no value of a dimension.
		const without = { ...facts, address: request.address, dimensions: [] };
		const plain = await askPicture(requestOf(subject, without, request.reference), box, facts, ask);
		const isNeeded = plain instanceof Trouble ? isRefused(plain) : isBlank(plain);
		return { isDrawn: true, notes: isNeeded ? [...notes, causeOf("needs", quote(names))] : notes };
	}
	if (places.isSure) throw new Trouble("empty", causeOf("empty-picture", quote(name)));
	return { isDrawn: false, notes: [...notes, notSeen] };
}

function requestOf({ address, name }: Subject, facts: PictureFacts, reference: string) {
	return pictureRequest(facts, { address, names: [name], reference });
}

const maxReferences = 3;

/** The best first. Every server of WMS 1.1.1 knows the last one. `notes`: for viewers, if the variant has a picture. */
function variantsOf({ layer, mapWkid }: Subject, facts: PictureFacts) {
	const references = referencesFor(facts, mapWkid).slice(0, maxReferences);
	const variants = references.map((reference) => ({ facts, reference, notes: [] as Cause[] }));
	const { style = "" } = layer ?? {};
	const [first] = references;
	if (first !== undefined && style !== "")
		variants.push({
			facts: { ...facts, style },
			reference: first,
			notes: [causeOf("needs", quote(`STYLES=${style}`))],
		});
	const oldest = { ...facts, isOlder: true, version: "1.1.1", formats: [], dimensions: [] };
	return [...variants, { facts: oldest, reference: "EPSG:4326", notes: [] }];
}

/**
 * Asks at the document's address, then at the registered one.
 * @returns null if the layer is drawn only in references that are not known here
 * @throws {Trouble}
 */
async function findFirstPicture(subject: Subject, facts: PictureFacts, ask: Ask) {
	const { address } = subject;
	const variants = variantsOf(subject, facts);
	const documentAddress = requestOf(subject, facts, "").address;
	const isSame = withoutParameters(documentAddress, true) === withoutParameters(address, true);
	const notes: Cause[] = [];
	let trouble: Trouble | null = null;
	for (const place of isSame ? [documentAddress] : [documentAddress, address]) {
		const first = await tryVariants(subject, place, variants, ask);
		if (first && !(first instanceof Trouble)) return { ...first, notes: [...notes, ...first.notes] };
		trouble = first;
		if (trouble && place !== address) notes.push(causeOf("map-address", quote(place), trouble.what));
	}
	// The document does not offer the only variant that was tried.
	if (variants.length === 1 && trouble && isRefused(trouble)) return null;
	throw trouble ?? new Trouble("down", causeOf("no-picture"));
}

type Variants = ReturnType<typeof variantsOf>;

/** @returns the first picture, else the first trouble; null if no reference has the layer's place */
async function tryVariants(subject: Subject, address: string, variants: Variants, ask: Ask) {
	let trouble: Trouble | null = null;
	for (const { reference, facts, notes } of variants) {
		const places = placesIn(reference, subject.capabilities, subject.layer, facts);
		if (!places) continue;
		const request = requestOf(subject, { ...facts, address }, reference);
		const picture = await askPicture(request, places.boxes[0] ?? [], facts, ask);
		if (!(picture instanceof Trouble)) return { request, places, picture, notes };
		trouble ??= picture;
		if (!isRefused(picture)) break;
	}
	return trouble;
}

/** The server answers: another request may be right. */
function isRefused({ what, status }: Trouble) {
	return (
		what.code.startsWith("no-picture") || (status !== null && status >= 400 && status < 500 && status !== 429)
	);
}

async function askPicture(
	request: PictureRequest,
	box: readonly number[],
	{ fixed }: PictureFacts,
	ask: Ask,
): Promise<Uint8Array | Trouble> {
	const answer = await ask(pictureAddress(request, box, fixed));
	if (!answer.ok) return answer;
	const { bytes, type } = answer;
	if (hasPngSignature(bytes) || /^\s*image\//i.test(type)) return bytes;
	const words = await exceptionIn(bytes, type);
	return new Trouble("down", words ? causeOf("no-picture-but", quote(words)) : causeOf("no-picture"));
}

/** @param box west, south, east, north in the request's reference; as in the document if that is unknown */
function pictureAddress(
	{ address, reference, isOlder, parameters }: PictureRequest,
	box: readonly number[],
	{ width, height }: PictureFacts["fixed"],
) {
	const [west, south, east, north] = box;
	const sides = isLatitudeFirst(reference, isOlder) ? [south, west, north, east] : box;
	return withParameters(address, {
		SERVICE: "WMS",
		REQUEST: "GetMap",
		...parameters,
		[isOlder ? "SRS" : "CRS"]: isOlder && reference === "CRS:84" ? "EPSG:4326" : reference,
		BBOX: sides.join(","),
		WIDTH: `${width || pictureSide}`,
		HEIGHT: `${height || pictureSide}`,
	});
}

/** Before compression, a picture has some 16,000. */
const maxBytes = 64 * 1024;

/** The height follows (RFC 2083, section 4.1.1). */
const widthOffset = 16;

export function isBlank(bytes: Uint8Array): boolean {
	if (!hasPngSignature(bytes) || bytes.length > maxBytes || bytes.length < widthOffset + 8) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	// The size is checked before the decoder allocates memory for it.
	if (view.getUint32(widthOffset) > pictureSide || view.getUint32(widthOffset + 4) > pictureSide)
		return false;
	try {
		const { data, channels = 1, palette, depth = 8 } = decode(bytes);
		if (palette || depth < 8) return data.every((index) => index === data[0]);
		const isClear = channels % 2 === 0 && data.every((value, at) => (at + 1) % channels !== 0 || value === 0);
		return isClear || data.every((value, at) => value === data[at % channels]);
	} catch {
		return false;
	}
}
