import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { isObject, tryJson } from "../../registry/untrusted.ts";
import { field, textIn } from "../page/elements.ts";
import { objectOf } from "../service/decode.ts";
import { type DraftProblem, t } from "./checked-draft.ts";

const labels = { service_url: "service-address", layer: "layer-in-service", service_name: "title" } as const;
type Member = keyof typeof labels;

/** Keeps all members that it does not show; disabled for version 2.0. */
export class DraftForm {
	/** @param text the registration, which may change after the form was drawn */
	constructor(
		readonly text: () => string,
		readonly change: (text: string) => void,
	) {}

	titles(problems: readonly DraftProblem[]) {
		return html`<fieldset class="titles" ?disabled=${this.#isDisabled()}>
			<legend class="hidden">${t("titles")}</legend>
			${this.#fields(["service_name"], problems)}
			<p class="hint">${t("title-hint")}</p>
		</fieldset>`;
	}

	addresses(problems: readonly DraftProblem[]) {
		const isWms = objectOf(tryJson(this.text())).payload_type !== "feature";
		return html`<fieldset class="form" ?disabled=${this.#isDisabled()}>
			<legend class="hidden">${t("addresses-and-layers")}</legend>
			${this.#fields(isWms ? ["service_url", "layer"] : ["service_url"], problems)}
		</fieldset>`;
	}

	#isDisabled() {
		const document = tryJson(this.text());
		return !isObject(document) || document.version === "2.0";
	}

	#fields(members: readonly Member[], problems: readonly DraftProblem[]) {
		return langs.map((lang) => members.map((member) => this.#field(lang, member, problems)));
	}

	#field(lang: Lang, member: Member, problems: readonly DraftProblem[]) {
		const id = `${lang}-${member}`;
		const isWrong = problems.some(({ pointer }) => pointer === `/${lang}/${member}`);
		const value = objectOf(objectOf(tryJson(this.text()))[lang])[member];
		const input = (event: Event) => this.#write(lang, member, textIn(event));
		const control = html`<input type=${member === "service_url" ? "url" : "text"} id=${id} autocomplete="off"
			spellcheck="false" aria-describedby="verdict" aria-invalid=${isWrong}
			.value=${live(typeof value === "string" ? value : "")} @input=${input}>`;
		return field(id, t(`in-${lang}`, t(labels[member])), control);
	}

	#write(lang: Lang, member: Member, value: string) {
		const document = objectOf(tryJson(this.text()));
		const isAbsent = member === "service_name" && value === "";
		const node = { ...objectOf(document[lang]), [member]: isAbsent ? undefined : value };
		this.change(`${JSON.stringify({ ...document, [lang]: node }, null, 2)}\n`);
	}
}
