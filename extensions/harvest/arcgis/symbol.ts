import type { Document } from "../../../site/service/arcgis.ts";
import { listOf, numberOf, objectOf } from "../../../site/service/decode.ts";
import { isImage } from "../description.ts";

/** Pixels, as in the legends of ArcGIS. */
const side = 20;

const pixelsPerPoint = 4 / 3;

/** @returns a data URI; null for an unknown symbol or a picture that is not usable */
export function symbolImage(document: unknown): string | null {
	const symbol = objectOf(document);
	return drawings.get(symbol.type)?.(symbol) ?? null;
}

const drawings: ReadonlyMap<unknown, (symbol: Document) => string | null> = new Map([
	["esriPMS", pictureImage],
	["esriPFS", pictureImage],
	["esriSMS", drawMarker],
	["esriSLS", drawLine],
	["esriSFS", drawFill],
]);

/** No SVG, which can contain scripts. */
const pictureTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/bmp"]);

/** @returns a data URI; null if the type is not accepted or the base64 is invalid */
export function pictureImage({ contentType, imageData }: Document): string | null {
	const type = contentType === "image/jpg" ? "image/jpeg" : contentType;
	if (typeof type !== "string" || !pictureTypes.has(type) || typeof imageData !== "string") return null;
	const image = `data:${type};base64,${imageData}`;
	return isImage(image) ? image : null;
}

export function genericImageOf(geometryType: string): string {
	const color = [136, 136, 136, 255];
	const outline = { color: [68, 68, 68, 255], width: 0.75 };
	if (geometryType === "esriGeometryPolyline") return drawLine({ color, width: 1.5 });
	const isArea = geometryType === "esriGeometryPolygon" || geometryType === "esriGeometryEnvelope";
	return isArea ? drawFill({ color, outline }) : drawMarker({ color, size: 7.5, outline });
}

function svgImage(width: number, content: string) {
	const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${width}">${content}</svg>`;
	return `data:image/svg+xml;base64,${btoa(text)}`;
}

function decimal(value: number) {
	return String(Math.round(value * 100) / 100);
}

function clamp(value: unknown, min: number, max: number, otherwise: number) {
	return Math.min(Math.max(numberOf(value) ?? otherwise, min), max);
}

/** @param color red, green, blue and alpha, each from 0 to 255 */
function paint(property: "fill" | "stroke", color: unknown) {
	const parts = listOf(color).map((part) => Math.round(clamp(part, 0, 255, 0)));
	if (parts.length < 3) return `${property}="none"`;
	const [red, green, blue, alpha = 255] = parts;
	const opacity = alpha === 255 ? "" : ` ${property}-opacity="${decimal(alpha / 255)}"`;
	return `${property}="rgb(${red},${green},${blue})"${opacity}`;
}

/** Lengths in line widths. */
const dashes: ReadonlyMap<unknown, number[]> = new Map([
	["esriSLSDash", [4, 3]],
	["esriSLSShortDash", [3, 1]],
	["esriSLSLongDash", [8, 3]],
	["esriSLSDot", [1, 3]],
	["esriSLSShortDot", [1, 1]],
	["esriSLSDashDot", [4, 3, 1, 3]],
	["esriSLSShortDashDot", [4, 1, 1, 1]],
	["esriSLSLongDashDot", [8, 3, 1, 3]],
	["esriSLSDashDotDot", [8, 3, 1, 3, 1, 3]],
	["esriSLSLongDashDotDot", [8, 3, 1, 3, 1, 3]],
	["esriSLSShortDashDotDot", [4, 1, 1, 1, 1, 1]],
]);

/** `width`: in pixels. */
function strokeOf(line: Document) {
	if (line.style === "esriSLSNull" || listOf(line.color).length < 3)
		return { attributes: 'stroke="none"', width: 0 };
	const width = clamp(line.width, 0, 12, 1) * pixelsPerPoint;
	const pattern = dashes.get(line.style)?.map((length) => decimal(length * width));
	const dash = pattern ? ` stroke-dasharray="${pattern.join(" ")}"` : "";
	return { attributes: `${paint("stroke", line.color)} stroke-width="${decimal(width)}"${dash}`, width };
}

function drawLine(symbol: Document) {
	return svgImage(side, `<path d="M1 10H19" fill="none" ${strokeOf(symbol).attributes}/>`);
}

const horizontal = "M2 6H18M2 10H18M2 14H18";
const vertical = "M6 2V18M10 2V18M14 2V18";
const rising = "M2 10L10 2M2 18L18 2M10 18L18 10";
const falling = "M10 2L18 10M2 2L18 18M2 10L10 18";
const hatches: ReadonlyMap<unknown, string> = new Map([
	["esriSFSHorizontal", horizontal],
	["esriSFSVertical", vertical],
	["esriSFSCross", horizontal + vertical],
	["esriSFSForwardDiagonal", falling],
	["esriSFSBackwardDiagonal", rising],
	["esriSFSDiagonalCross", rising + falling],
]);

function drawFill(symbol: Document) {
	const hatch = hatches.get(symbol.style);
	const isSolid = !hatch && symbol.style !== "esriSFSNull";
	const fill = isSolid ? paint("fill", symbol.color) : 'fill="none"';
	const lines = hatch ? `<path d="${hatch}" fill="none" ${paint("stroke", symbol.color)}/>` : "";
	const outline = strokeOf(objectOf(symbol.outline)).attributes;
	return svgImage(side, `${lines}<rect x="2" y="2" width="16" height="16" ${fill} ${outline}/>`);
}

/** Paths around the centre; a unit is half the marker's size. */
const markers: ReadonlyMap<unknown, string> = new Map([
	["esriSMSSquare", "M-1 -1L1 -1L1 1L-1 1Z"],
	["esriSMSDiamond", "M0 -1L1 0L0 1L-1 0Z"],
	["esriSMSTriangle", "M0 -1L1 1L-1 1Z"],
	["esriSMSCross", "M0 -1L0 1M-1 0L1 0"],
	["esriSMSX", "M-1 -1L1 1M-1 1L1 -1"],
]);

function drawMarker(symbol: Document) {
	const half = (clamp(symbol.size, 2, 48, 8) * pixelsPerPoint) / 2;
	const outline = strokeOf(objectOf(symbol.outline));
	const width = Math.ceil(2 * half + outline.width + 2);
	const middle = width / 2;
	const path = markers.get(symbol.style)?.replace(/-?\d/g, (units) => decimal(middle + Number(units) * half));
	const centre = decimal(middle);
	const shape = path ? `path d="${path}"` : `circle cx="${centre}" cy="${centre}" r="${decimal(half)}"`;
	return svgImage(width, `<${shape} ${paint("fill", symbol.color)} ${outline.attributes}/>`);
}
