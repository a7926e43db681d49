/** An element of an XML document. */
export interface XmlElement {
	/** Its name without a prefix. */
	name: string;
	attributes: Readonly<Record<string, string>>;
	/** All of the text in it, that of the elements in it too. */
	text: string;
	children: XmlElement[];
}

/** Limits of one tree: its elements, and the characters of an element's text. */
const maxElements = 5_000;
const maxTextLength = 16_000;

/** Elements of HTML, which texts may contain, that end a line. */
const breaks = /^(?:br|p|li|div|tr)$/i;

/** Builds the tree of one element from what a reader finds. */
export class TreeBuilder {
	readonly root: XmlElement;
	readonly #open: XmlElement[];
	/** Open elements beyond the limit, which are left out. */
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

	/** @returns whether the root was closed */
	close(): boolean {
		if (this.#left > 0) this.#left -= 1;
		else this.#open.pop();
		return this.#open.length === 0;
	}
}
