import { decode, hasPngSignature } from "fast-png";
import { scaleFromCenter } from "ol/extent.js";
import type { Ask } from "../../../api/service/net/ask.ts";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/causes.ts";
import type { Bounds } from "../../../site/data/entries.ts";
import { quote } from "../finding.ts";
import { boxOf, type CapabilitiesLayer, exceptionIn } from "./capabilities.ts";
import { withParameters } from "./read-capabilities.ts";
import { parseXml } from "./xml.ts";

/** Side of the requested pictures, in pixels. */
export const pictureSide = 64;

/** The box for a layer whose service gives none: Canada. */
const canada: Bounds = [-141, 41, -52, 84];

/** Parts of a layer's box, around its centre, that are requested: many layers are drawn at large scales only. */
const parts = [1, 1 / 10, 1 / 100];

/**
 * Looks at a layer of a WMS: requests up to three pictures until one is not blank.
 * @throws {Trouble} if there is no picture, or all are blank
 */
export async function lookAtWms(
	address: string,
	name: string,
	layer: CapabilitiesLayer,
	ask: Ask,
): Promise<void> {
	const box = boxOf(layer) ?? canada;
	for (const part of parts) {
		const shown = [...box];
		scaleFromCenter(shown, part);
		const answer = await ask(mapAddress(address, name, shown));
		if (!answer.ok) throw answer;
		const { bytes, type } = answer;
		if (!hasPngSignature(bytes) && !type.startsWith("image/")) {
			const words = exceptionIn(parseXml(bytes, type));
			throw new Trouble("down", words ? causeOf("no-picture-but", quote(words)) : causeOf("no-picture"));
		}
		if (!isBlank(bytes)) return;
	}
	throw new Trouble("empty", causeOf("empty-picture", quote(name)));
}

/** A GetMap request of version 1.1.1 (01-068r3, section 7.2): every server supports it, and longitude comes first. */
function mapAddress(address: string, layer: string, box: readonly number[]): string {
	return withParameters(address, {
		service: "WMS",
		request: "GetMap",
		version: "1.1.1",
		layers: layer,
		styles: "",
		srs: "EPSG:4326",
		bbox: box.join(","),
		width: String(pictureSide),
		height: String(pictureSide),
		format: "image/png",
		transparent: "TRUE",
	});
}

/** Bytes of a picture that is decoded: one of that side has some 16,000 before compression. */
const maxBytes = 64 * 1024;

/** Offset of a PNG's width, which its height follows (RFC 2083, section 4.1.1). */
const widthOffset = 16;

/**
 * Whether a PNG is blank: all pixels have the same colour, or are transparent. A picture that is larger than requested, or
 * cannot be decoded, does not count as blank.
 */
export function isBlank(bytes: Uint8Array): boolean {
	if (!hasPngSignature(bytes) || bytes.length > maxBytes || bytes.length < widthOffset + 8) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	// The size is checked before the decoder allocates memory for it.
	if (view.getUint32(widthOffset) > pictureSide || view.getUint32(widthOffset + 4) > pictureSide)
		return false;
	try {
		const { data, channels = 1, palette, depth = 8 } = decode(bytes);
		if (palette || depth < 8) return data.every((index) => index === data[0]);
		const alpha = channels === 4 || channels === 2 ? channels - 1 : null;
		const isClear = alpha !== null && data.every((value, index) => index % channels !== alpha || value === 0);
		return isClear || data.every((value, index) => value === data[index % channels]);
	} catch {
		return false;
	}
}
