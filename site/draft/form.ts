import { type Lang, langs } from "../../registry/smallkey.ts";
import { describe, field, fill, h } from "../page/dom.ts";
import type { Texts } from "../text/english.ts";
import { layerChoice } from "./layer-choice.ts";
import type { PlacedProblem } from "./problems.ts";

type Document = Record<string, unknown>;

/** The members of one language that the form has, with the kinds of service that have them. */
const members = [
	{ name: "service_url", kinds: ["wms", "feature"] },
	{ name: "layer", kinds: ["wms"] },
	{ name: "service_name", kinds: ["wms", "feature"] },
] as const;

type Member = (typeof members)[number]["name"];

/** One member of the document in one language. */
interface Field {
	lang: Lang;
	name: Member;
	kinds: readonly string[];
	input: HTMLInputElement;
	problems: HTMLElement;
	element: HTMLElement;
}

/** A form over the text of a registration: it changes the members that it shows, and leaves all others as they are. */
export class DraftForm {
	readonly #changed: (text: string) => void;
	readonly #kind: HTMLSelectElement;
	readonly #fields: Field[];
	readonly element: HTMLElement;
	#document: Document = {};

	/** @param changed is called with the whole text */
	constructor(texts: Texts, changed: (text: string) => void) {
		this.#changed = changed;
		const kinds = ["wms", "feature"].map((value) => h("option", { value }, texts.types[value] ?? value));
		this.#kind = h("select", {}, kinds);
		this.#kind.addEventListener("change", () => this.#write());
		this.#fields = langs.flatMap((lang) => members.map((member) => this.#field(texts, lang, member)));
		this.element = h(
			"fieldset",
			{ class: "form" },
			h("legend", {}, texts.draftForm),
			field(texts.draftKind, this.#kind),
			this.#fields.map(({ element }) => element),
			h("p", { class: "hint" }, texts.draftFormOther),
		);
	}

	#field(texts: Texts, lang: Lang, { name, kinds }: (typeof members)[number]): Field {
		const labels: Record<Member, (lang: string) => string> = {
			service_url: texts.draftUrl,
			layer: texts.draftLayer,
			service_name: texts.draftName,
		};
		const type = name === "service_url" ? "url" : "text";
		const input = h("input", { type, autocomplete: "off", spellcheck: "false" });
		input.addEventListener("input", () => this.#write());
		const hint = name === "service_name" && h("p", { class: "hint" }, texts.draftNameHint);
		const problems = h("div", { class: "fieldproblems" });
		if (hint) describe(input, hint);
		describe(input, problems);
		const choice =
			name === "service_url" &&
			layerChoice(
				texts,
				lang,
				() => this.#asked(lang),
				(chosen) => this.#choose(lang, chosen),
			);
		const label = labels[name](lang === "en" ? texts.english : texts.french);
		return { lang, name, kinds, input, problems, element: field(label, input, hint, problems, choice) };
	}

	#input(lang: Lang, name: Member): HTMLInputElement | undefined {
		return this.#fields.find((field) => field.lang === lang && field.name === name)?.input;
	}

	#asked(lang: Lang): { kind: "wms" | "feature"; address: string } {
		const address = this.#input(lang, "service_url")?.value.trim() ?? "";
		return { kind: this.#kind.value === "feature" ? "feature" : "wms", address };
	}

	/** Takes a layer that the service has: its name, or for features its address. */
	#choose(lang: Lang, chosen: { layer?: string; address?: string }): void {
		const name = chosen.layer === undefined ? "service_url" : "layer";
		const input = this.#input(lang, name);
		if (!input) return;
		input.value = chosen.layer ?? chosen.address ?? "";
		this.#write();
		input.focus();
	}

	/** Shows what a text holds; a text that is no version 1 document disables the form. */
	read(text: string): void {
		const document = parseDocument(text);
		this.element.toggleAttribute("disabled", document === null);
		if (!document) return;
		this.#document = document;
		const { payload_type: kind } = document;
		this.#kind.value = kind === "feature" ? "feature" : "wms";
		for (const { lang, name, input } of this.#fields) {
			const value = objectOf(document[lang])[name];
			if (input.ownerDocument.activeElement !== input) input.value = typeof value === "string" ? value : "";
		}
		this.#showMembers();
	}

	/** Shows problems at their fields. */
	showProblems(problems: readonly PlacedProblem[]): void {
		for (const field of this.#fields) {
			const own = problems.filter(({ pointer }) => pointer === `/${field.lang}/${field.name}`);
			field.input.setAttribute("aria-invalid", String(own.length > 0));
			fill(
				field.problems,
				own.map(({ text, lang }) => h("p", { class: "bad", lang }, text)),
			);
		}
	}

	#showMembers(): void {
		for (const { kinds, element } of this.#fields) element.hidden = !kinds.includes(this.#kind.value);
	}

	#write(): void {
		const document: Document = { ...this.#document, payload_type: this.#kind.value };
		for (const lang of langs) {
			const node = { ...objectOf(document[lang]) };
			for (const { name, kinds, input } of this.#fields.filter((field) => field.lang === lang)) {
				const isPart = kinds.includes(this.#kind.value);
				if (isPart && (input.value !== "" || name !== "service_name")) node[name] = input.value;
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
		return isObject(value) && value.version !== "2.0" ? value : null;
	} catch {
		return null;
	}
}

function isObject(value: unknown): value is Document {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Document {
	return isObject(value) ? value : {};
}
