import { SaxesParser } from "saxes";

/** An element of an XML document. */
export interface XmlElement {
	/** Its name without a prefix. */
	name: string;
	attributes: Readonly<Record<string, string>>;
	/** Its own text. */
	text: string;
	children: XmlElement[];
}

/** Limits: nesting, number of elements, characters of an element's text. They bound the memory of a document. */
const maxDepth = 200;
const maxElements = 300_000;
const maxTextLength = 16_000;

/** Errors in a document that are tolerated. The limit is there because each error costs much time. */
const maxErrors = 1000;

const unreadable = new Error("more errors or elements than are accepted, or nested too deep");

/**
 * Parses an XML document, also one that is not quite well formed. It expands only the five entities of XML itself.
 * @returns the root element, and whether the document ends before that does; null if it cannot be read
 */
export function parseXml(bytes: Uint8Array, contentType: string): (XmlElement & { isCut: boolean }) | null {
	const text = decodeXml(bytes, contentType);
	if (text === null) return null;
	const top: XmlElement = { name: "", attributes: {}, text: "", children: [] };
	const path = [top];
	let [errors, elements] = [0, 0];
	const addText = (part: string) => {
		const element = path.at(-1) ?? top;
		if (element.text.length < maxTextLength) element.text += part.slice(0, maxTextLength);
	};
	const parser = new SaxesParser({ xmlns: false });
	parser.on("error", () => {
		errors += 1;
		if (errors > maxErrors) throw unreadable;
	});
	parser.on("opentag", ({ name, attributes }) => {
		elements += 1;
		if (elements > maxElements || path.length > maxDepth) throw unreadable;
		const element = { name: name.slice(name.indexOf(":") + 1), attributes, text: "", children: [] };
		path.at(-1)?.children.push(element);
		path.push(element);
	});
	parser.on("text", addText);
	parser.on("cdata", addText);
	parser.on("closetag", () => path.pop());
	try {
		parser.write(text).close();
	} catch (error) {
		if (error !== unreadable) throw error;
		return null;
	}
	const [root] = top.children;
	return root ? { ...root, isCut: path.length > 1 } : null;
}

/** Byte order mark, each byte as a character → encoding. */
const marks = [
	["\xef\xbb\xbf", "utf-8"],
	["\xff\xfe", "utf-16le"],
	["\xfe\xff", "utf-16be"],
] as const;

/**
 * Decodes an XML document: by its byte order mark, else by the content type's encoding, else by the declaration's, else as
 * UTF-8 (RFC 7303, section 3). Null if the encoding is unknown.
 */
function decodeXml(bytes: Uint8Array, contentType: string): string | null {
	const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
	const [, marked] = marks.find(([mark]) => start.startsWith(mark)) ?? [];
	const sent = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
	const declared = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
	try {
		return new TextDecoder(marked ?? sent ?? declared ?? "utf-8").decode(bytes);
	} catch {
		return null;
	}
}
