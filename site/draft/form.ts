import { langs } from "../../registry/smallkey.ts";
import { h, newId } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";

type Document = Record<string, unknown>;

/** The members of one language that the form has, with the kinds of service that have them. */
const members = [
	{ name: "service_url", kinds: ["wms", "feature"] },
	{ name: "layer", kinds: ["wms"] },
	{ name: "service_name", kinds: ["wms", "feature"] },
] as const;

type Member = (typeof members)[number]["name"];

/** A form over the text of a registration: it changes the members that it shows, and leaves all others as they are. */
export class DraftForm {
	readonly #changed: (text: string) => void;
	readonly #kind: HTMLSelectElement;
	readonly #fields = new Map<string, HTMLInputElement>();
	readonly element: HTMLElement;
	#document: Document = {};

	/** @param changed told of the whole text */
	constructor(texts: Texts, changed: (text: string) => void) {
		this.#changed = changed;
		this.#kind = h(
			"select",
			{ id: newId() },
			h("option", { value: "wms" }, texts.types.wms ?? "wms"),
			h("option", { value: "feature" }, texts.types.feature ?? "feature"),
		);
		this.#kind.addEventListener("change", () => this.#write());
		const labels: Record<Member, (lang: string) => string> = {
			service_url: texts.draftUrl,
			layer: texts.draftLayer,
			service_name: texts.draftName,
		};
		const rows = langs.flatMap((lang) =>
			members.map(({ name }) => {
				const type = name === "service_url" ? "url" : "text";
				const input = h("input", { type, id: newId(), autocomplete: "off", spellcheck: "false" });
				input.addEventListener("input", () => this.#write());
				this.#fields.set(`${lang} ${name}`, input);
				const label = labels[name](lang === "en" ? texts.english : texts.french);
				const hint = name === "service_name" && h("p", { class: "hint", id: newId() }, texts.draftNameHint);
				if (hint) input.setAttribute("aria-describedby", hint.id);
				return h("div", { class: "field" }, h("label", { for: input.id }, label), input, hint);
			}),
		);
		this.element = h(
			"fieldset",
			{ class: "form" },
			h("legend", {}, texts.draftForm),
			h("div", { class: "field" }, h("label", { for: this.#kind.id }, texts.draftKind), this.#kind),
			rows,
			h("p", { class: "hint" }, texts.draftFormOther),
		);
	}

	/** Shows what a text holds; a text that is no version 1 document leaves the form off. */
	read(text: string): void {
		const document = parseDocument(text);
		this.element.toggleAttribute("disabled", document === null);
		if (!document) return;
		this.#document = document;
		const { payload_type: kind } = document;
		this.#kind.value = kind === "feature" ? "feature" : "wms";
		for (const lang of langs) {
			const node = objectOf(document[lang]);
			for (const { name } of members) {
				const input = this.#fields.get(`${lang} ${name}`) as HTMLInputElement;
				const value = node[name];
				if (document !== null && input.ownerDocument.activeElement !== input)
					input.value = typeof value === "string" ? value : "";
			}
		}
		this.#showMembers();
	}

	#showMembers(): void {
		for (const lang of langs) {
			for (const { name, kinds } of members) {
				const input = this.#fields.get(`${lang} ${name}`) as HTMLInputElement;
				const isPart = (kinds as readonly string[]).includes(this.#kind.value);
				(input.parentElement as HTMLElement).hidden = !isPart;
			}
		}
	}

	#write(): void {
		const document: Document = { ...this.#document, payload_type: this.#kind.value };
		for (const lang of langs) {
			const node = { ...objectOf(document[lang]) };
			for (const { name, kinds } of members) {
				const { value } = this.#fields.get(`${lang} ${name}`) as HTMLInputElement;
				const isPart = (kinds as readonly string[]).includes(this.#kind.value);
				if (isPart && (value !== "" || name !== "service_name")) node[name] = value;
				else delete node[name];
			}
			document[lang] = node;
		}
		this.#showMembers();
		this.#changed(`${JSON.stringify(document, null, 2)}\n`);
	}
}

function parseDocument(text: string): Document | null {
	try {
		const value: unknown = JSON.parse(text);
		const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
		return isObject && (value as Document).version !== "2.0" ? (value as Document) : null;
	} catch {
		return null;
	}
}

function objectOf(value: unknown): Document {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Document) : {};
}
