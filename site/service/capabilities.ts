import type { Lang } from "../../registry/smallkey.ts";
import { boundsIn, numberIn, type ReferencedBox } from "./boxes.ts";
import type { Bounds } from "./projections.ts";

export type OgcService = "WMS" | "WMTS";

/** `any`: without a language, or in the first one. */
export type Texts = { any: string } & Partial<Record<Lang, string>>;

/** Scale denominators, the smallest scale first; 0 is no bound. */
export interface Scales {
	smallest: number;
	largest: number;
	/** Servers compute a `ScaleHint` with pixels of other sizes. */
	isHint: boolean;
}

export interface Dimension {
	parameter: string;
	name: string;
	hasDefault: boolean;
	last: string;
}

/** Shared: a document can have tens of thousands of layers. */
const noText: Texts = { any: "" };

const none: readonly never[] = [];

export class CapabilitiesLayer {
	name = "";
	title = noText;
	/** As sent: it may contain markup. */
	abstract = noText;
	keywords: readonly (readonly [lang: Lang | "", text: string])[] = none;
	readonly queryable: boolean;
	/** Media types. The legends of its parents apply, too. */
	ownLegendFormats: readonly string[] = none;
	box: Bounds | null = null;
	/** The first few. */
	referenced: readonly ReferencedBox[] = none;
	inner: Bounds | null = null;
	/** `innerScales` are different ones of the layers in it. */
	scales: Scales | null = null;
	innerScales: readonly Scales[] = none;
	/** Those that can be projected come first. The references of its parents apply, too. */
	references: readonly string[] = none;
	dimensions: readonly Dimension[] = none;
	style = "";
	readonly fixed: FixedSize;

	/** @param parent not copied: a document can have tens of thousands of styles */
	constructor(
		attributes: Readonly<Record<string, string>>,
		readonly parent: CapabilitiesLayer | null,
		/** Number of open elements, with its own. */
		readonly depth: number,
	) {
		const { queryable } = attributes;
		// Inherited, unless the layer has its own (06-042, table 6).
		this.queryable = queryable === undefined ? (parent?.queryable ?? false) : isTrue(queryable);
		this.fixed = fixedSize(attributes, parent?.fixed ?? anySize);
	}
}

/** The size of each picture; 0: any. `isWhole`: only the whole box can be drawn. */
interface FixedSize {
	width: number;
	height: number;
	isWhole: boolean;
}

export const anySize: FixedSize = { width: 0, height: 0, isWhole: false };

function fixedSize(
	{ fixedWidth, fixedHeight, noSubsets }: Readonly<Record<string, string>>,
	around: FixedSize,
): FixedSize {
	const sizeOf = (text: string | undefined, inherited: number) => {
		const side = Math.round(numberIn(text));
		return side >= 0 && side <= 10_000 ? side : inherited;
	};
	return {
		width: sizeOf(fixedWidth, around.width),
		height: sizeOf(fixedHeight, around.height),
		isWhole: noSubsets === undefined ? around.isWhole : isTrue(noSubsets),
	};
}

function isTrue(text: string): boolean {
	return /^\s*(?:1|true)\s*$/.test(text);
}

export class Capabilities {
	isOlder = false;
	version = "";
	/** The layer of a WMS that contains all others. */
	root: CapabilitiesLayer | null = null;
	/** Named layers, in the order of the document. */
	readonly layers = new Map<string, CapabilitiesLayer>();
	/** Names of a large document's other layers, at most 20,000. */
	readonly others = new Set<string>();
	count = 0;
	pictureFormats: readonly string[] = [];
	pictureAddress = "";
	featureInfoFormats: readonly string[] = [];
	legendFormats: readonly string[] = [];
}

export function* withParents(layer: CapabilitiesLayer): Generator<CapabilitiesLayer> {
	for (let next: CapabilitiesLayer | null = layer; next; next = next.parent) yield next;
}

export function textFor(texts: Texts, lang: Lang): string {
	return texts[lang] ?? texts.any;
}

export function ownBox(
	{ box, referenced }: Pick<CapabilitiesLayer, "box" | "referenced">,
	isOlder: boolean,
): Bounds | null {
	let bounds = box;
	for (const candidate of referenced) bounds ??= boundsIn(candidate, isOlder);
	return bounds;
}

/** Else the union of its layers' boxes, else that of the nearest parent (06-042, section 7.2.4.6.6). */
export function boxOf(layer: CapabilitiesLayer, { isOlder }: Capabilities): Bounds | null {
	let bounds = ownBox(layer, isOlder) ?? layer.inner;
	for (const parent of withParents(layer)) bounds ??= ownBox(parent, isOlder);
	return bounds;
}

const unreadable = "\ufffd";

/** GeoServer may leave out its workspace (`pub:roads`), and some characters may be unreadable. */
export function findLayer({ layers }: Capabilities, name: string) {
	const listed =
		listedNames(name).find((candidate) => layers.has(candidate)) ??
		[...layers.keys()].find((candidate) => isBroken(candidate, name)) ??
		"";
	const layer = layers.get(listed);
	return layer ? { layer, listed } : null;
}

export function listedNames(name: string): string[] {
	const colon = name.indexOf(":");
	return colon > 0 && colon < name.length - 1 ? [name, name.slice(colon + 1)] : [name];
}

function isBroken(listed: string, name: string): boolean {
	if (!listed.includes(unreadable)) return false;
	const [start = "", ...rest] = listed.split(/\ufffd+/);
	const end = rest.at(-1) ?? "";
	return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

export function isUnreadable(name: string): boolean {
	return name.includes(unreadable);
}
