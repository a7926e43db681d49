import { type Look, quote, seen, unseen } from "../finding.ts";
import type { Ask } from "../net/ask.ts";
import { isBlank, isPng, pictureSide } from "../picture.ts";
import { type Box, boxOf, type CapabilitiesLayer, parseCapabilities } from "./capabilities.ts";
import { withParameters } from "./read-capabilities.ts";

/** The box for a layer whose service gives none: Canada. */
const canada: Box = { west: -141, south: 41, east: -52, north: 84 };

/** Parts of a layer's box, around its centre, that are requested: many layers are drawn at large scales only. */
const parts = [1, 1 / 10, 1 / 100];

/** Looks at a layer of a WMS: requests up to three pictures until one is not blank. Never throws. */
export async function lookAtWms(
	address: string,
	name: string,
	layer: CapabilitiesLayer,
	ask: Ask,
): Promise<Look> {
	const box = boxOf(layer) ?? canada;
	for (const part of parts) {
		const answer = await ask(mapAddress(address, name, middleOf(box, part)));
		if (!answer.ok) return unseen(answer.kind, answer.text);
		const { bytes, type } = answer;
		if (!isPng(bytes) && !type.startsWith("image/")) return noPicture(bytes, type);
		if (!isBlank(bytes)) return seen;
	}
	return { state: "empty", text: `draws an empty picture of ${quote(name)}` };
}

function noPicture(bytes: Uint8Array, type: string): Look {
	const parsed = parseCapabilities(bytes, type);
	const words = parsed.capabilities === null && parsed.exception ? `: ${quote(parsed.exception)}` : "";
	return unseen("server", `answers with no picture${words}`);
}

function middleOf({ west, south, east, north }: Box, part: number): Box {
	const [x, y] = [(west + east) / 2, (south + north) / 2];
	const [halfWidth, halfHeight] = [((east - west) * part) / 2, ((north - south) * part) / 2];
	return { west: x - halfWidth, south: y - halfHeight, east: x + halfWidth, north: y + halfHeight };
}

/** A GetMap request of version 1.1.1 (01-068r3, section 7.2): every server supports it, and longitude comes first. */
function mapAddress(address: string, layer: string, { west, south, east, north }: Box): string {
	return withParameters(address, {
		service: "WMS",
		request: "GetMap",
		version: "1.1.1",
		layers: layer,
		styles: "",
		srs: "EPSG:4326",
		bbox: [west, south, east, north].join(","),
		width: String(pictureSide),
		height: String(pictureSide),
		format: "image/png",
		transparent: "TRUE",
	});
}
