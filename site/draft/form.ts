import { type Lang, langs } from "../../registry/smallkey.ts";
import { fill, h, newId } from "../page/dom.ts";
import type { Texts } from "../text/texts.ts";
import { LayerChoice } from "./layer-choice.ts";
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
		this.#kind = h(
			"select",
			{ id: newId() },
			h("option", { value: "wms" }, texts.types.wms ?? "wms"),
			h("option", { value: "feature" }, texts.types.feature ?? "feature"),
		);
		this.#kind.addEventListener("change", () => this.#write());
		this.#fields = langs.flatMap((lang) => members.map((member) => this.#field(texts, lang, member)));
		this.element = h(
			"fieldset",
			{ class: "form" },
			h("legend", {}, texts.draftForm),
			h("div", { class: "field" }, h("label", { for: this.#kind.id }, texts.draftKind), this.#kind),
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
		const input = h("input", { type, id: newId(), autocomplete: "off", spellcheck: "false" });
		input.addEventListener("input", () => this.#write());
		const problems = h("div", { class: "fieldproblems", id: newId() });
		const hint = name !== "service_name" ? null : h("p", { class: "hint", id: newId() }, texts.draftNameHint);
		input.setAttribute("aria-describedby", [hint?.id, problems.id].filter(Boolean).join(" "));
		const label = labels[name](lang === "en" ? texts.english : texts.french);
		const choice =
			name !== "service_url"
				? null
				: new LayerChoice(
						texts,
						lang,
						() => this.#asked(lang),
						(chosen) => this.#choose(lang, chosen),
					);
		const element = h(
			"div",
			{ class: "field" },
			h("label", { for: input.id }, label),
			input,
			hint,
			problems,
			choice?.element,
		);
		return { lang, name, kinds, input, problems, element };
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
		const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
		return isObject && (value as Document).version !== "2.0" ? (value as Document) : null;
	} catch {
		return null;
	}
}

function objectOf(value: unknown): Document {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Document) : {};
}
