import type { ReferencedBox } from "./boxes.ts";
import type { CapabilitiesLayer, Dimension } from "./capabilities.ts";

/** What a document says about the pictures of a layer. */
export interface PictureFacts {
	version: string;
	isOlder: boolean;
	/** The address of GetMap; empty if the document has none. */
	address: string;
	formats: readonly string[];
	/** The references of the layer and of the layers around it. */
	references: readonly string[];
	/** Boxes in references that cannot be projected. */
	boxes: readonly ReferencedBox[];
	/** Dimensions without a default, whose value a request has to name. */
	dimensions: readonly Dimension[];
	fixed: CapabilitiesLayer["fixed"];
	/** The style that is asked for; empty for the default one, which every server has to have. */
	style: string;
}

/** A request of pictures, without its box and its size. */
export interface PictureRequest {
	address: string;
	/** The spatial reference of the box: `EPSG:3978` or `CRS:84`. */
	reference: string;
	isOlder: boolean;
	parameters: Readonly<Record<string, string>>;
}

/** What is asked for if the document says nothing else. */
interface PictureOptions {
	/** Address of the service as registered. */
	address: string;
	/** Names of layers. */
	names: readonly (string | number)[];
	/** One of `referencesFor`. */
	reference: string;
	/** Whether the last value of a dimension without a default is named. */
	hasDimensions?: boolean;
}

/**
 * The request of a layer's pictures, as its document says: version, format, address and dimensions. The health check, the
 * page's map and so the proofs ask with it.
 * @param facts null: the document is not known, so the request is of version 1.3.0, for a PNG at the registered address
 */
export function pictureRequest(
	facts: PictureFacts | null,
	{ address, names, reference, hasDimensions = true }: PictureOptions,
): PictureRequest {
	const isOlder = facts?.isOlder ?? false;
	const format = formatOf(facts?.formats ?? []);
	const dimensions = hasDimensions ? (facts?.dimensions ?? []) : [];
	return {
		address: addressIn(facts?.address ?? "", address),
		reference,
		isOlder,
		parameters: {
			VERSION: isOlder ? olderVersion(facts?.version ?? "") : "1.3.0",
			LAYERS: names.join(","),
			STYLES: facts?.style ?? "",
			FORMAT: format,
			...(!/jpe?g/i.test(format) && { TRANSPARENT: "TRUE" }),
			...Object.fromEntries(dimensions.map(({ parameter, last }) => [parameter, last])),
		},
	};
}

/** The address of a document's request; that of the service if it has none. */
function addressIn(text: string, address: string): string {
	if (text === "" || !URL.canParse(text, address)) return address;
	const { protocol, href } = new URL(text, address);
	return protocol === "http:" || protocol === "https:" ? href : address;
}

function olderVersion(version: string): string {
	return /^1\.1\.\d$/.test(version) ? version : "1.1.1";
}

/** Formats of pictures, the best first. */
const formats = [
	/^image\/png$/i,
	/^image\/png\b/i,
	/^image\/(?!svg)\S*png/i,
	/^image\/(?:webp|gif|jpe?g)\b/i,
	/^image\/(?!svg)/i,
];

function formatOf(listed: readonly string[]): string {
	for (const pattern of formats) {
		const format = listed.find((one) => pattern.test(one));
		if (format !== undefined) return format;
	}
	return "image/png";
}
