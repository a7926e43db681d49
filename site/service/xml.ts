export interface XmlElement {
	name: string;
	attributes: Readonly<Record<string, string>>;
	text: string;
	children: XmlElement[];
}

const maxElements = 5_000;
const maxTextLength = 16_000;

/** HTML elements that end a line; texts may contain them. */
const breaks = /^(?:br|p|li|div|tr)$/i;

export class TreeBuilder {
	readonly root: XmlElement;
	readonly #open: XmlElement[];
	#left = 0;
	#elements = 1;

	constructor(name: string, attributes: XmlElement["attributes"]) {
		this.root = { name, attributes, text: "", children: [] };
		this.#open = [this.root];
	}

	open(name: string, attributes: XmlElement["attributes"]): void {
		this.#elements += 1;
		if (breaks.test(name)) this.text(" ");
		if (this.#left > 0 || this.#elements > maxElements) {
			this.#left += 1;
			return;
		}
		const element = { name, attributes, text: "", children: [] };
		this.#open.at(-1)?.children.push(element);
		this.#open.push(element);
	}

	text(text: string): void {
		for (const element of this.#open)
			if (element.text.length < maxTextLength) element.text += text.slice(0, maxTextLength);
	}

	close(): boolean {
		if (this.#left > 0) this.#left -= 1;
		else this.#open.pop();
		return this.#open.length === 0;
	}
}

interface XmlHandler {
	open(name: string, attributes: Readonly<Record<string, string>>): void;
	text(text: string): void;
	close(): void;
}

/** Nesting, and characters of one tag or document type: they bound the memory of a document of any size. */
const maxDepth = 200;
const maxMarkup = 256_000;

export class UnreadableXml extends Error {}

/** Beginnings and ends of what is skipped, and of a section of text. */
const cdata = ["<![CDATA[", "]]>"] as const;
const sections = [["<!--", "-->"], ["<?", "?>"], cdata] as const;

/**
 * Reads an XML document part by part, also one that is not well formed: a tag that is not open is not closed,
 * and a tag that stays open ends with the one around it. It expands the five entities of XML itself, and no
 * others.
 */
export class XmlReader {
	#rest = "";
	#until = "";
	readonly path: string[] = [];

	constructor(readonly handler: XmlHandler) {}

	/** @throws {UnreadableXml} */
	write(part: string): void {
		const text = this.#rest + part;
		this.#rest = "";
		let at = 0;
		while (at < text.length) {
			const next = this.#read(text, at);
			if (next < 0) break;
			at = next;
		}
		this.#rest = text.slice(at);
		if (this.#rest.length > maxMarkup) throw new UnreadableXml();
	}

	/** Reads one piece. @returns the position after it; -1 if its end has not arrived */
	#read(text: string, at: number): number {
		if (this.#until !== "") return this.#readUntil(text, at);
		if (text[at] !== "<") return this.#readText(text, at);
		if (text[at + 1] === "!" || text[at + 1] === "?") return this.#readDeclaration(text, at);
		const end = tagEnd(text, at);
		if (end >= 0) this.#readTag(text.slice(at + 1, end));
		return end < 0 ? -1 : end + 1;
	}

	#readDeclaration(text: string, at: number): number {
		for (const [start, end] of sections) {
			if (!text.startsWith(start, at)) continue;
			this.#until = end;
			return at + start.length;
		}
		if (text.length - at < cdata[0].length) return -1;
		const end = typeEnd(text, at);
		return end < 0 ? -1 : end + 1;
	}

	#readText(text: string, at: number): number {
		const next = text.indexOf("<", at);
		let end = next < 0 ? text.length : next;
		// An entity may continue in the next part.
		const entity = next < 0 ? text.lastIndexOf("&") : -1;
		if (entity >= at && end - entity < 12 && !text.includes(";", entity)) end = entity;
		if (end === at) return -1;
		this.handler.text(expanded(text.slice(at, end)));
		return end;
	}

	#readUntil(text: string, at: number): number {
		const index = text.indexOf(this.#until, at);
		const end = index < 0 ? text.length - (this.#until.length - 1) : index;
		if (this.#until === cdata[1] && end > at) this.handler.text(text.slice(at, end));
		if (index < 0) return end > at ? end : -1;
		const after = index + this.#until.length;
		this.#until = "";
		return after;
	}

	#readTag(tag: string): void {
		const isEnd = tag.startsWith("/");
		const [written = ""] = /^[^\s/>=]+/.exec(isEnd ? tag.slice(1) : tag) ?? [];
		const name = localName(written);
		if (name === "") return;
		if (isEnd) return this.#close(name);
		if (this.path.length >= maxDepth) throw new UnreadableXml();
		this.path.push(name);
		this.handler.open(name, attributesOf(tag.slice(written.length)));
		if (tag.endsWith("/")) this.#close(name);
	}

	#close(name: string): void {
		const at = this.path.lastIndexOf(name);
		if (at < 0) return;
		for (let open = this.path.length; open > at; open -= 1) {
			this.handler.close();
			this.path.pop();
		}
	}
}

/** Quoted signs do not end a tag. */
function tagEnd(text: string, from: number): number {
	let quote = "";
	for (let at = from + 1; at < text.length; at += 1) {
		const sign = text[at] as string;
		if (quote === "" && sign === ">") return at;
		if (sign === quote) quote = "";
		else if (quote === "" && (sign === '"' || sign === "'")) quote = sign;
	}
	return -1;
}

/** The document type may have declarations in brackets. */
function typeEnd(text: string, from: number): number {
	const pattern = /<!--[\s\S]*?-->|"[^"]*"|'[^']*'|[[\]>]/g;
	pattern.lastIndex = from + 2;
	let depth = 0;
	for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
		if (match[0] === "[") depth += 1;
		if (match[0] === "]") depth -= 1;
		if (match[0] === ">" && depth <= 0) return match.index;
	}
	return -1;
}

function localName(name: string): string {
	return name.slice(name.indexOf(":") + 1);
}

/** A name is read once, also without a value, so that the time is that of the tag's length. */
const attribute = /([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g;

function attributesOf(text: string): Record<string, string> {
	const attributes: Record<string, string> = {};
	for (const [, name = "", double, value = double] of text.matchAll(attribute))
		if (value !== undefined && localName(name) !== "__proto__") attributes[localName(name)] = expanded(value);
	return attributes;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function expanded(text: string): string {
	if (!text.includes("&")) return text;
	return text.replace(
		/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
		(whole, decimal, hex, name) => {
			if (name) return entities[name] ?? whole;
			const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
			return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
		},
	);
}
