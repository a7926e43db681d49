import { isGeographic, isLatitudeFirst } from "../../../site/service/boxes.ts";
import { type PictureRequest, pixelMetres, withParameters } from "../../../site/service/requests.ts";

const requestParameters = /^(?:service|request|version)$/i;

/** The document of a WMTS at its base address (07-057r7, section 11.1); null if the address is that of a document. */
export function restfulAddress(address: string): string | null {
	const url = new URL(address);
	if (/\.xml$/i.test(url.pathname)) return null;
	url.pathname = `${url.pathname.replace(/\/(?:1\.0\.0\/?)?$/, "")}/1.0.0/WMTSCapabilities.xml`;
	return withParameters(url.href, {}, requestParameters);
}

export function isSameService(address: string, other: string): boolean {
	const [a, b] = [address, other].map((text) => withParameters(text, {}, requestParameters));
	return a === b;
}

/** @param box west, south, east, north in the request's reference; as in the document if that is unknown */
export function pictureAddress(
	{ address, reference, isOlder, parameters }: PictureRequest,
	box: readonly number[],
	{ width, height }: { width: number; height: number },
): string {
	const [west, south, east, north] = box;
	const sides = isLatitudeFirst(reference, isOlder) ? [south, west, north, east] : box;
	return withParameters(address, {
		SERVICE: "WMS",
		REQUEST: "GetMap",
		...parameters,
		[isOlder ? "SRS" : "CRS"]: isOlder && reference === "CRS:84" ? "EPSG:4326" : reference,
		BBOX: sides.join(","),
		WIDTH: `${width}`,
		HEIGHT: `${height}`,
	});
}

/** At the equator, by which servers compute the scale of a picture in degrees (06-042, section 7.2.4.6.9). */
const metresPerDegree = 111_319.49;

/** A length in the unit of the reference. @param scale a denominator */
export function sideAtScale(reference: string, pixels: number, scale: number): number {
	return (pixels * pixelMetres * scale) / (isGeographic(reference) ? metresPerDegree : 1);
}

export function scaleOfBox(
	reference: string,
	[west = 0, , east = 0]: readonly number[],
	pixels: number,
): number {
	return (east - west) / sideAtScale(reference, pixels, 1);
}
