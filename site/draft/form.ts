import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { canonicalText } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { isObject, tryJson } from "../../registry/untrusted-text.ts";
import { orFailure, ServiceFailed } from "../map/service-request.ts";
import { field, select, textIn } from "../page/dom.ts";
import { typeText } from "../page/page.ts";
import { type PlacedProblem, t } from "./check.ts";
import { parseServiceAddress } from "./proposals.ts";
import { layerOptions, readService, type ServiceLayer } from "./service.ts";

const questions: Partial<Record<Lang, string>> = {};

/** @param choose gets the layer's name (WMS) or its address (ArcGIS) */
function layerChoice(
	lang: Lang,
	kind: "wms" | "feature",
	address: string,
	choose: (chosen: string) => void,
): TemplateResult {
	const find = async ({ currentTarget }: Event) => {
		const place = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		const question = `${kind} ${address}`;
		questions[lang] = question;
		const { url = address } = parseServiceAddress(address) ?? {};
		const chooseName = (name: string) => choose(kind === "wms" ? name : `${url}/${name}`);
		const listOf = (layers: readonly ServiceLayer[]) => html`<label>${t("layer-in-service")}
			${select(`${lang}-layers`, "", layerOptions(layers), (name) => name && chooseName(name))}</label>`;
		render(t("asking-service"), place);
		const service = await orFailure(readService({ kind, url, chosen: "" }));
		if (questions[lang] !== question) return;
		const isFailure = service instanceof ServiceFailed;
		render(isFailure ? html`<span class="bad">${service.message}</span>` : listOf(service.layers), place);
	};
	const label = t(`list-layers-${lang}`);
	return html`<div class="offer"><button class="small" @click=${find}>${label}</button><div role="status"></div></div>`;
}

export function fileChoice(open: (file: File) => void, loadExample: () => void): TemplateResult {
	const pick = ({ currentTarget }: Event) => {
		const input = currentTarget as HTMLInputElement;
		const [file] = input.files ?? [];
		if (file) open(file);
		input.value = "";
	};
	return html`${t("drop-file")} <label class="filelabel"><input type="file"
		accept=".json,application/json" class="hiddenfile" @change=${pick}><span>${t("choose-file")}</span></label>.
		<button type="button" class="small" @click=${loadExample}>${t("load-example")}</button>`;
}

export const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

const exampleIn = (lang: Lang, service_name: string) => ({
	service_url: `https://maps.geogratis.gc.ca/wms/canvec_${lang}`,
	layer: "hydro",
	service_name,
	legend_format: "image/png",
});

export const example = canonicalText({
	version: "1.0.0",
	payload_type: "wms",
	en: exampleIn("en", "Rivers and lakes (CanVec)"),
	fr: exampleIn("fr", "Cours d’eau et lacs (CanVec)"),
});

type Members = Record<string, unknown>;

/** A member of a language → its text. */
const fields = { service_url: "address", layer: "layer", service_name: "title" } as const;
type FieldName = keyof typeof fields;

const names = Object.keys(fields) as FieldName[];

export function isInForm(text: string): boolean {
	const value = tryJson(text);
	return isObject(value) && value.version !== "2.0";
}

/**
 * It changes the members that it shows, and keeps all others.
 * @param text may change after the form was drawn
 */
export function draftForm(
	text: () => string,
	isDisabled: boolean,
	problems: readonly PlacedProblem[],
	change: (text: string) => void,
) {
	const drawn = membersOf(tryJson(text()));
	const kind = drawn.payload_type === "feature" ? "feature" : "wms";
	const write = (changed: string, value: string) =>
		change(changedText(membersOf(tryJson(text())), kind, changed, value));
	const layers = (lang: Lang) =>
		layerChoice(lang, kind, memberOf(drawn, lang, "service_url").trim(), (chosen) => {
			const id = `${lang}-${kind === "wms" ? "layer" : "service_url"}`;
			write(id, chosen);
			document.getElementById(id)?.focus();
		});
	const input = (lang: Lang, name: FieldName) => {
		const id = `${lang}-${name}`;
		const wrong = problems.filter(({ pointer }) => pointer === `/${lang}/${name}`);
		const hint = name === "service_name" && t("title-hint");
		const control = html`<input type=${name === "service_url" ? "url" : "text"} id=${id} autocomplete="off"
			spellcheck="false" aria-describedby="${hint ? `${id}-hint ` : ""}${id}-problems" aria-invalid=${wrong.length > 0}
			.value=${live(memberOf(drawn, lang, name))} @input=${(event: Event) => write(id, textIn(event))}>`;
		const more = html`${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ""}
			<div class="fieldproblems" id="${id}-problems">
				${wrong.map(({ lang, text }) => html`<p class="bad" lang=${lang}>${text}</p>`)}
			</div>
			${name === "service_url" ? layers(lang) : ""}`;
		return field(id, t(`${fields[name]}-${lang}`), control, more);
	};
	const kinds = ["wms", "feature"].map((name) => [name, typeText(name)] as const);
	const shown: FieldName[] = kind === "wms" ? ["service_url", "layer"] : ["service_url"];
	return {
		titles: html`<fieldset class="titles" ?disabled=${isDisabled}>
			<legend class="hidden">${t("titles")}</legend>
			${langs.map((lang) => input(lang, "service_name"))}
		</fieldset>`,
		rest: html`<fieldset class="form" ?disabled=${isDisabled}>
			<legend>${t("form")}</legend>
			${field(
				"kind",
				t("service-kind"),
				select("kind", kind, kinds, (chosen) => write("kind", chosen)),
			)}
			${langs.map((lang) => shown.map((name) => input(lang, name)))}
			<p class="hint">${t("form-hint")}</p>
		</fieldset>`,
	};
}

/** @param changed the id of the field that was changed */
function changedText(before: Members, kind: string, changed: string, newValue: string): string {
	const payload_type = changed === "kind" ? newValue : kind;
	const after: Members = { ...before, payload_type };
	for (const lang of langs) {
		const node = { ...membersOf(before[lang]) };
		for (const name of names) {
			const value = changed === `${lang}-${name}` ? newValue : memberOf(before, lang, name);
			const isAbsent = name === "layer" ? payload_type !== "wms" : name === "service_name" && value === "";
			node[name] = isAbsent ? undefined : value;
		}
		after[lang] = node;
	}
	return `${JSON.stringify(after, null, 2)}\n`;
}

function memberOf(document: Members, lang: Lang, name: string): string {
	const value = membersOf(document[lang])[name];
	return typeof value === "string" ? value : "";
}

function membersOf(value: unknown): Members {
	return isObject(value) ? value : {};
}
