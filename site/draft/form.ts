import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { isObject, tryJson } from "../../registry/untrusted-text.ts";
import { field, textIn } from "../page/page.ts";
import { type PlacedProblem, t } from "./check.ts";

/** A member of a language → its text. */
const fields = { service_url: "service-address", layer: "layer-in-service", service_name: "title" } as const;
type FieldName = keyof typeof fields;

/**
 * It changes the members that it shows, and keeps all others. It shows none of version 2.0.
 * @param text may change after the form was drawn
 */
export function draftForm(
	text: () => string,
	problems: readonly PlacedProblem[],
	change: (text: string) => void,
) {
	const drawn = tryJson(text());
	const isDisabled = !isObject(drawn) || drawn.version === "2.0";
	const write = (lang: Lang, name: FieldName, value: string) => {
		const document = membersOf(tryJson(text()));
		const isAbsent = name === "service_name" && value === "";
		const node = { ...membersOf(document[lang]), [name]: isAbsent ? undefined : value };
		change(`${JSON.stringify({ ...document, [lang]: node }, null, 2)}\n`);
	};
	const input = (lang: Lang, name: FieldName) => {
		const id = `${lang}-${name}`;
		const isWrong = problems.some(({ pointer }) => pointer === `/${lang}/${name}`);
		const value = membersOf(membersOf(drawn)[lang])[name];
		const control = html`<input type=${name === "service_url" ? "url" : "text"} id=${id} autocomplete="off"
			spellcheck="false" aria-describedby="verdict" aria-invalid=${isWrong}
			.value=${live(typeof value === "string" ? value : "")} @input=${(event: Event) => write(lang, name, textIn(event))}>`;
		return field(id, t(`in-${lang}`, t(fields[name])), control);
	};
	const isWms = membersOf(drawn).payload_type !== "feature";
	const shown: FieldName[] = isWms ? ["service_url", "layer"] : ["service_url"];
	return {
		titles: html`<fieldset class="titles" ?disabled=${isDisabled}>
			<legend class="hidden">${t("titles")}</legend>
			${langs.map((lang) => input(lang, "service_name"))}
			<p class="hint">${t("title-hint")}</p>
		</fieldset>`,
		rest: html`<fieldset class="form" ?disabled=${isDisabled}>
			<legend class="hidden">${t("addresses-and-layers")}</legend>
			${langs.map((lang) => shown.map((name) => input(lang, name)))}
		</fieldset>`,
	};
}

function membersOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}
