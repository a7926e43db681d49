import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/try-json.ts";
import { field, select, textIn } from "../page/dom.ts";
import { t, typeText } from "../page/texts.ts";
import { layerChoice } from "./layer-choice.ts";
import type { PlacedProblem } from "./problems.ts";

type Document = Record<string, unknown>;

/** The members of one language that the form shows, and for which kinds of service. */
const members: readonly { name: Member; kinds: readonly string[] }[] = [
	{ name: "service_url", kinds: ["wms", "feature"] },
	{ name: "layer", kinds: ["wms"] },
	{ name: "service_name", kinds: ["wms", "feature"] },
];

type Member = "service_url" | "layer" | "service_name";

/** A form for the text of a registration. It changes the members that it shows, and keeps all others. */
export class DraftForm {
	readonly #changed: (text: string) => void;
	/** For each language, the control that lists the layers of its service. */
	readonly #choices: Record<Lang, HTMLElement>;
	#document: Document = {};
	#isDisabled = false;

	/** @param changed is called with the whole text after each change */
	constructor(changed: (text: string) => void) {
		this.#changed = changed;
		const choice = (lang: Lang) => {
			const getService = () => ({ kind: this.#kind, address: this.#value(lang, "service_url").trim() });
			// A feature layer is chosen by its address.
			return layerChoice(lang, getService, (chosen) => {
				const name = this.#kind === "wms" ? "layer" : "service_url";
				this.#set(lang, name, chosen);
				document.getElementById(`${lang}-${name}`)?.focus();
			});
		};
		this.#choices = { en: choice("en"), fr: choice("fr") };
	}

	/** Fills the form from a text. A text that is not a document of version 1 disables the form. */
	read(text: string): void {
		const document = parseDocument(text);
		this.#isDisabled = document === null;
		this.#document = document ?? this.#document;
	}

	/** @param problems each is shown beside its field */
	content(problems: readonly PlacedProblem[]): TemplateResult {
		const choices = ["wms", "feature"].map((kind) => [kind, typeText(kind)] as const);
		const choose = (kind: string) => this.#write(kind, (lang, name) => this.#value(lang, name));
		const shown = members.filter(({ kinds }) => kinds.includes(this.#kind));
		return html`<fieldset class="form" ?disabled=${this.#isDisabled}>
			<legend>${t("Form")}</legend>
			${field("kind", t("Kind of service"), select("kind", this.#kind, choices, choose))}
			${langs.map((lang) => shown.map(({ name }) => this.#field(lang, name, problems)))}
			<p class="hint">${t("The form shows the members of version 1.0.0 that most layers need; every other member stays as it is in the text.")}</p>
		</fieldset>`;
	}

	#field(lang: Lang, name: Member, problems: readonly PlacedProblem[]): TemplateResult {
		const labels = {
			service_url: ["Address (English)", "Address (French)"],
			layer: ["Layer in the service (English)", "Layer in the service (French)"],
			service_name: ["Title (English)", "Title (French)"],
		} as const;
		const id = `${lang}-${name}`;
		const own = problems.filter(({ pointer }) => pointer === `/${lang}/${name}`);
		const [hint, hintId] =
			name === "service_name"
				? [t("What viewers show; without it, what the service says"), `${id}-hint `]
				: ["", ""];
		const control = html`<input type=${name === "service_url" ? "url" : "text"} id=${id} autocomplete="off"
			spellcheck="false" aria-describedby="${hintId}${id}-problems" aria-invalid=${own.length > 0}
			.value=${live(this.#value(lang, name))} @input=${(event: Event) => this.#set(lang, name, textIn(event))}>`;
		const more = html`${hint && html`<p class="hint" id=${hintId.trim()}>${hint}</p>`}
			<div class="fieldproblems" id="${id}-problems">
				${own.map((one) => html`<p class="bad" lang=${one.lang}>${one.text}</p>`)}
			</div>
			${name === "service_url" ? this.#choices[lang] : ""}`;
		return field(id, t(labels[name][lang === "en" ? 0 : 1]), control, more);
	}

	get #kind(): "wms" | "feature" {
		return this.#document.payload_type === "feature" ? "feature" : "wms";
	}

	#value(lang: Lang, name: Member): string {
		const value = objectOf(this.#document[lang])[name];
		return typeof value === "string" ? value : "";
	}

	#set(lang: Lang, name: Member, value: string): void {
		this.#write(this.#kind, (...of) => (of[0] === lang && of[1] === name ? value : this.#value(...of)));
	}

	#write(kind: string, valueIn: (lang: Lang, name: Member) => string): void {
		const document: Document = { ...this.#document, payload_type: kind };
		for (const lang of langs) {
			const node = { ...objectOf(document[lang]) };
			for (const { name, kinds } of members) {
				const value = valueIn(lang, name);
				if (kinds.includes(kind) && (value !== "" || name !== "service_name")) node[name] = value;
				else delete node[name];
			}
			document[lang] = node;
		}
		this.#changed(`${JSON.stringify(document, null, 2)}\n`);
	}
}

function parseDocument(text: string): Document | null {
	const value = tryJson(text);
	return isObject(value) && value.version !== "2.0" ? value : null;
}

function isObject(value: unknown): value is Document {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Document {
	return isObject(value) ? value : {};
}
