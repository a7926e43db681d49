/** Content of an element, which is never read as HTML. */
export type Child = Node | string | null | undefined | false;

/** Attributes by name; false and undefined are left out, true is an empty one, a function listens. */
type Attributes = Record<string, string | number | boolean | undefined | null | ((event: Event) => void)>;

/** An element. Texts become text nodes; a function under `onclick` and the like becomes a listener. */
export function h<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	if (element instanceof HTMLButtonElement) element.type = "button";
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
		else if (value === true) element.setAttribute(name, "");
		else if (value !== false && value !== undefined && value !== null)
			element.setAttribute(name, String(value));
	}
	fill(element, ...children);
	return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
	const kept = children.flat().filter((child): child is Node | string => Boolean(child));
	element.replaceChildren(...kept);
}

/** Hosts and service texts with places where a long word may break. */
export function breakable(text: string): DocumentFragment {
	const fragment = document.createDocumentFragment();
	for (const part of text.split(/(?<=[/_.\-?&=,])/)) fragment.append(part, document.createElement("wbr"));
	return fragment;
}

let serial = 0;

/** An id for a label and what it names. */
export function newId(): string {
	serial += 1;
	return `i${serial}`;
}

/** A control below its label; `more` follows it. */
export function field(label: string, control: HTMLElement, ...more: Child[]): HTMLElement {
	control.id ||= newId();
	return h("div", { class: "field" }, h("label", { for: control.id }, label), control, more);
}

/** Names the element that says more of a control. */
export function describe(control: HTMLElement, description: HTMLElement): void {
	description.id ||= newId();
	const known = control.getAttribute("aria-describedby");
	control.setAttribute("aria-describedby", known === null ? description.id : `${known} ${description.id}`);
}

/** A text that is read out at once. */
export function warning(text: string): HTMLElement {
	return h("p", { class: "warning", role: "alert" }, text);
}

/** Calls later, and only the last of several calls in a row. */
export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}

/** `http` and `https` addresses; null for anything else, such as `javascript:`. */
export function webAddress(text: string): URL | null {
	try {
		const url = new URL(text);
		return url.protocol === "http:" || url.protocol === "https:" ? url : null;
	} catch {
		return null;
	}
}

/** A link to another site; its text where the address is none. */
export function outside(address: string, text: string): HTMLElement {
	if (!webAddress(address)) return h("span", {}, breakable(text));
	// On paper an address that is the text itself need not follow once more.
	const name = address === text ? "address" : undefined;
	return h("a", { href: address, rel: "noopener noreferrer", class: name }, breakable(text));
}
