export interface XmlElement {
	name: string;
	attributes: Readonly<Record<string, string>>;
	text: string;
	children: XmlElement[];
}

const maxElements = 5_000;
const maxTextLength = 16_000;

/** Texts may contain HTML. */
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

/** Nesting, and characters of a piece: they bound the memory for any document. */
const maxDepth = 200;
const maxPiece = 256_000;

export class UnreadableXml extends Error {}

/** A comment, an instruction, a section of text, a tag (quoted signs do not end it), or text. */
const piece =
	/<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(?![!?])((?:"[^"]*"|'[^']*'|[^>"'])*)>|([^<]+)/y;

/** Groups: the start of a comment, an instruction or a section; its inside; its last two characters. */
const unfinished = /^(<!--|<\?|<!\[CDATA\[)([\s\S]*)([\s\S]{2})$/;

const typeStart = /^<!(?!--|\[CDATA\[)[\s\S]{7}/;

/** The document need not be well formed: an open tag ends with the one around it. Only XML's own entities are expanded. */
export class XmlReader {
	readonly path: string[] = [];
	#held = "";

	constructor(readonly handler: XmlHandler) {}

	/** @throws {UnreadableXml} */
	write(part: string): void {
		const text = this.#held + part;
		let at = 0;
		while (at < text.length) {
			const end = this.#readPiece(text, at);
			if (end === null) break;
			at = end;
		}
		const rest = text.slice(at);
		const [, start, inside = "", last] = unfinished.exec(rest) ?? [];
		if (start === "<![CDATA[") this.handler.text(inside);
		this.#held = start === undefined ? rest : `${start}${last}`;
		if (this.#held.length > maxPiece) throw new UnreadableXml();
	}

	/** @returns the position after the piece; null if its end has not arrived */
	#readPiece(text: string, at: number): number | null {
		piece.lastIndex = at;
		const match = piece.exec(text);
		if (!match) return typeStart.test(text.slice(at, at + 9)) ? findTypeEnd(text, at) : null;
		const [whole, section, tag, words] = match;
		const end = at + whole.length;
		if (section) this.handler.text(section);
		if (tag !== undefined) this.#readTag(tag);
		if (words === undefined) return end;
		// An entity may continue in the next part.
		const [entity = ""] = (end === text.length && /&[^&;]{0,10}$/.exec(words)) || [];
		if (entity === words) return null;
		this.handler.text(expand(words.slice(0, words.length - entity.length)));
		return end - entity.length;
	}

	#readTag(tag: string) {
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

	#close(name: string) {
		const at = this.path.lastIndexOf(name);
		if (at < 0) return;
		for (const _ of this.path.splice(at)) this.handler.close();
	}
}

/** The position after a document type with its declarations; null if its end has not arrived. */
function findTypeEnd(text: string, start: number): number | null {
	const pattern = /<!--[\s\S]*?-->|"[^"]*"|'[^']*'|[[\]>]/g;
	pattern.lastIndex = start + 2;
	let depth = 0;
	for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
		if (match[0] === "[") depth += 1;
		if (match[0] === "]") depth -= 1;
		if (match[0] === ">" && depth <= 0) return pattern.lastIndex;
	}
	return null;
}

function localName(name: string): string {
	return name.slice(name.indexOf(":") + 1);
}

/** Also reads a name without a value, so that the time is linear. */
const attribute = /([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g;

function attributesOf(text: string): Record<string, string> {
	const attributes: Record<string, string> = {};
	for (const [, name = "", double, value = double] of text.matchAll(attribute))
		if (value !== undefined && localName(name) !== "__proto__") attributes[localName(name)] = expand(value);
	return attributes;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function expand(text: string): string {
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
